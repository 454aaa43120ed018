# Runs a class of Hadoop against the cluster: sh run.sh CLASS [ARGUMENTS]
#
#   org.apache.hadoop.fs.FsShell -ls /                          files
#   org.apache.hadoop.hdfs.tools.DFSAdmin -report               DataNodes
#   org.apache.hadoop.examples.ExampleDriver wordcount IN OUT   and teragen, terasort, teravalidate, pi
#   org.apache.hadoop.test.MapredTestDriver TestDFSIO -write    and nnbench, mrbench
set -eu
export JAVA_HOME=/usr
exec {{program.java}} -Xmx{{heap_mib}}m --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.reflect=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/java.math=ALL-UNNAMED --add-opens=java.base/java.net=ALL-UNNAMED --add-opens=java.base/java.text=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.util.concurrent=ALL-UNNAMED --add-opens=java.base/java.util.zip=ALL-UNNAMED --add-opens=java.base/sun.security.util=ALL-UNNAMED -cp '{{folder}}/conf:{{jars}}/*' "$@"
