"""Writes decoder.onnx: one step of TinyLlama 1.1B as exporters write it, with keys and values of earlier steps as
inputs. Shapes are those of config.json of TinyLlama/TinyLlama-1.1B-Chat-v1.0 (Apache-2.0). The file has no weights."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, FEATURES, HEADS, KEY_HEADS, DEPTH, HIDDEN, WORDS = 22, 2048, 32, 4, 64, 5632, 32000

nodes, constants, inputs, outputs = [], [], [], []


def constant(values, kind=numpy.int64):
    name = f"constant_{len(constants)}"
    constants.append(numpy_helper.from_array(numpy.array(values, kind), name))
    return name


def weight(name, *shape):
    """A tensor whose elements are in another file, which nobody reads here."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="decoder.bin")
    constants.append(tensor)
    return name


def node(operator, *operands, name=None, **attributes):
    result = name or f"tensor_{len(nodes)}"
    nodes.append(helper.make_node(operator, operands, [result], f"/{operator}_{len(nodes)}", **attributes))
    return result


def number(value):
    return constant([value], numpy.float32)


def normalised(data, name):
    mean = node("ReduceMean", node("Pow", data, number(2)), constant([-1]), keepdims=1)
    root = node("Sqrt", node("Add", mean, number(1e-5)))
    return node("Mul", weight(name, FEATURES), node("Mul", data, node("Div", number(1), root)))


def rotated(heads):
    first = node("Slice", heads, constant([0]), constant([DEPTH // 2]), constant([3]))
    second = node("Slice", heads, constant([DEPTH // 2]), constant([DEPTH]), constant([3]))
    turned = node("Concat", node("Neg", second), first, axis=-1)
    return node("Add", node("Mul", heads, cosine), node("Mul", turned, sine))


def in_heads(data, heads):
    shape = node("Concat", batch, tokens, constant([heads]), constant([DEPTH]), axis=0)
    return node("Transpose", node("Reshape", data, shape), perm=[0, 2, 1, 3])


def for_queries(cache):
    """Keys or values, repeated for all queries that share them."""
    rows = node("Slice", node("Shape", cache), constant([2]), constant([3]))
    groups = [constant([KEY_HEADS]), constant([HEADS // KEY_HEADS]), rows, constant([DEPTH])]
    wide = node("Expand", node("Unsqueeze", cache, constant([2])), node("Concat", batch, *groups, axis=0))
    return node("Reshape", wide, node("Concat", batch, constant([HEADS]), rows, constant([DEPTH]), axis=0))


def with_past(kind, layer, new):
    past, present = (f"{word}.{layer}.{kind}" for word in ("past_key_values", "present"))
    shape = ["batch_size", KEY_HEADS, "past_sequence_length", DEPTH]
    inputs.append(helper.make_tensor_value_info(past, TensorProto.FLOAT, shape))
    outputs.append(helper.make_tensor_value_info(present, TensorProto.FLOAT, [*shape[:2], "length", DEPTH]))
    return for_queries(node("Concat", past, new, name=present, axis=2))


step = ["batch_size", "sequence_length"]
whole = ["batch_size", "past_sequence_length + sequence_length"]
for name, shape in [("input_ids", step), ("attention_mask", whole), ("position_ids", step)]:
    inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, shape))
shape = node("Shape", "input_ids")
batch, tokens = node("Gather", shape, constant([0])), node("Gather", shape, constant([1]))
frequencies = constant(numpy.ones((1, DEPTH // 2, 1)), numpy.float32)
positions = node("Cast", node("Unsqueeze", "position_ids", constant([1])), to=TensorProto.FLOAT)
angles = node("Transpose", node("MatMul", frequencies, positions), perm=[0, 2, 1])
angles = node("Concat", angles, angles, axis=-1)
cosine, sine = (node("Unsqueeze", node(operator, angles), constant([1])) for operator in ("Cos", "Sin"))
mask = node("Unsqueeze", node("Cast", "attention_mask", to=TensorProto.FLOAT), constant([1, 2]))
mask = node("Mul", node("Sub", number(1), mask), number(-3e38))

data = node("Gather", weight("embedding", WORDS, FEATURES), "input_ids")
for layer in range(LAYERS):
    features = normalised(data, f"{layer}.norm")
    query = node("MatMul", features, weight(f"{layer}.query", FEATURES, HEADS * DEPTH))
    key = node("MatMul", features, weight(f"{layer}.key", FEATURES, KEY_HEADS * DEPTH))
    value = node("MatMul", features, weight(f"{layer}.value", FEATURES, KEY_HEADS * DEPTH))
    keys = with_past("key", layer, rotated(in_heads(key, KEY_HEADS)))
    values = with_past("value", layer, in_heads(value, KEY_HEADS))
    scores = node("MatMul", rotated(in_heads(query, HEADS)), node("Transpose", keys, perm=[0, 1, 3, 2]))
    scores = node("Softmax", node("Add", node("Div", scores, number(8)), mask), axis=-1)
    rows = node("Transpose", node("MatMul", scores, values), perm=[0, 2, 1, 3])
    rows = node("Reshape", rows, node("Concat", batch, tokens, constant([HEADS * DEPTH]), axis=0))
    data = node("Add", data, node("MatMul", rows, weight(f"{layer}.out", HEADS * DEPTH, FEATURES)))
    features = normalised(data, f"{layer}.second_norm")
    gate = node("MatMul", features, weight(f"{layer}.gate", FEATURES, HIDDEN))
    up = node("MatMul", features, weight(f"{layer}.up", FEATURES, HIDDEN))
    hidden = node("Mul", node("Mul", gate, node("Sigmoid", gate)), up)
    data = node("Add", data, node("MatMul", hidden, weight(f"{layer}.down", HIDDEN, FEATURES)))
node("MatMul", normalised(data, "last_norm"), weight("words", FEATURES, WORDS), name="logits")
outputs.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*step, WORDS]))

graph = helper.make_graph(nodes, "decoder", inputs, outputs, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
onnx.save(model, "decoder.onnx")
