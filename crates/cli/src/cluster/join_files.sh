@@PROGRAM@@ parts merge @@PREFIX@@.*-of-@@PARTS@@.csv --out @@OUT@@
