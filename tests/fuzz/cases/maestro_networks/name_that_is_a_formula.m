Network =1+1 {
Layer conv1 {
  Type: CONV
  Stride { X: 2, Y: 2 }
  Dimensions: { K: 4, C: 3, R: 3, S: 3, Y: 8, X: 8 }
}
}
