// two units
Dataflow {
  TemporalMap(2,2) C;
  SpatialMap(1,1) K;
  TemporalMap(1,1) Y';
  TemporalMap(3,1) X;
  Cluster(4,P);
  SpatialMap(1,1) C;
}
