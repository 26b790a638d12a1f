Network One {
FPS: 30
Layer conv1 {
  Type: CONV
  Dimensions: { N: 1, K: 4, C: 3, Y: 8, X: 8, R: 3, S: 3 }
}
Layer dw2 {
  Type: DSCONV
  Dimensions: { N: 1, K: 1, C: 4, Y: 8, X: 8, R: 3, S: 3 }
}
}
