Accelerator One {
  num_pes: 16
  offchip_bw: 8
  top_noc_bw: 8
  top_noc_latency: 1
  top_noc_multicast True
  col_noc_bw: 8
  col_noc_latency: 1
  col_noc_multicast: True
  global_shared_memory: 65536 // 64 KiB
  PE_local_memory: 1024
}
Accelerator Two {
  num_pes: 8
  offchip_bw: 8
  top_noc_bw: 8
  top_noc_latency: 1
  top_noc_multicast: True
  col_noc_bw: 8
  col_noc_latency: 4294967296
  col_noc_multicast: True
  global_shared_memory: 65536
  PE_local_memory: 1024
}
