@@PROGRAM@@ merge @@PREFIX@@.*-of-@@PARTS@@.csv --out @@OUT@@
