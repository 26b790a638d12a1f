parts=()
for part in {1..@@PARTS@@}; do parts+=(--join @@PREFIX@@."$part"-of-@@PARTS@@); done
@@COMMAND@@ "${parts[@]}" --out @@OUT@@
