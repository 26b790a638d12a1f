/* Consumer of an Arrow C stream that takes the interface at its word, for `drive.py` under valgrind.
   The structures are those of <https://arrow.apache.org/docs/format/CDataInterface.html>. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* A batch that was taken out of a stream, and its schema. */
struct Taken {
    struct ArrowSchema schema;
    struct ArrowArray array;
};

/* Sum of bytes, so that every one of them is read. The branch makes valgrind see bytes that were never written. */
static uint64_t sum(const void *from, int64_t n) {
    const unsigned char *bytes = from;
    uint64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        if (bytes[i] != 0) total += bytes[i];
    return total;
}

static int64_t width(char format) {
    return format == 'i' ? 4 : 8;
}

static uint64_t read_column(const struct ArrowSchema *schema, const struct ArrowArray *array) {
    uint64_t total = sum(schema->name, strlen(schema->name));
    if (schema->format[0] == 'U') {
        const int64_t *ends = array->buffers[1];
        total += sum(ends, 8 * (array->length + 1));
        return total + sum(array->buffers[2], ends[array->length]);
    }
    if (array->buffers[0] != NULL) total += sum(array->buffers[0], (array->length + 7) / 8);
    total += sum(array->buffers[1], width(schema->format[0]) * array->length);
    if (schema->dictionary != NULL) total += read_column(schema->dictionary, array->dictionary);
    return total;
}

/* Takes the only batch of a stream, and reads the end of the stream twice. NULL if the stream breaks a rule. */
struct Taken *take(struct ArrowArrayStream *stream) {
    struct Taken *taken = calloc(1, sizeof *taken);
    struct ArrowArray end;
    if (stream->get_schema(stream, &taken->schema) != 0) return NULL;
    if (stream->get_next(stream, &taken->array) != 0) return NULL;
    for (int i = 0; i < 2; i++)
        if (stream->get_next(stream, &end) != 0 || end.release != NULL) return NULL;
    return taken;
}

/* Moves a stream out of its capsule, as a consumer does. */
struct ArrowArrayStream *move_stream(struct ArrowArrayStream *from) {
    struct ArrowArrayStream *to = malloc(sizeof *to);
    *to = *from;
    from->release = NULL;
    return to;
}

/* Releases a stream `times` times by the function that it had first; 1 if it marked itself. */
int release_stream(struct ArrowArrayStream *stream, int times) {
    void (*release)(struct ArrowArrayStream *) = stream->release;
    for (int i = 0; i < times; i++) release(stream);
    int is_marked = stream->release == NULL;
    free(stream);
    return is_marked;
}

/* Asks a stream that is released for more; 1 if it answers with an error and writes nothing. */
int ask_released(struct ArrowArrayStream *stream) {
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *) = stream->get_next;
    struct ArrowArray array;
    memset(&array, 7, sizeof array);
    stream->release(stream);
    int is_error = get_next(stream, &array) != 0 && array.length == 0x0707070707070707;
    free(stream);
    return is_error;
}

uint64_t read_all(const struct Taken *taken) {
    uint64_t total = 0;
    for (int64_t i = 0; i < taken->array.n_children; i++)
        total += read_column(taken->schema.children[i], taken->array.children[i]);
    return total;
}

/* Moves the child at `index` out of a batch, and its schema out of the schema. */
struct Taken *move_child(struct Taken *taken, int64_t index) {
    struct Taken *child = malloc(sizeof *child);
    child->schema = *taken->schema.children[index];
    child->array = *taken->array.children[index];
    taken->schema.children[index]->release = NULL;
    taken->array.children[index]->release = NULL;
    return child;
}

/* Moves the dictionary out of a child that was moved. */
struct Taken *move_dictionary(struct Taken *child) {
    struct Taken *words = malloc(sizeof *words);
    words->schema = *child->schema.dictionary;
    words->array = *child->array.dictionary;
    child->schema.dictionary->release = NULL;
    child->array.dictionary->release = NULL;
    return words;
}

uint64_t read_child(const struct Taken *child) {
    return read_column(&child->schema, &child->array);
}

int has_dictionary(const struct Taken *child) {
    return child->array.dictionary != NULL;
}

int64_t n_children(const struct Taken *taken) {
    return taken->array.n_children;
}

/* Releases a batch or a child and its schema `times` times; 1 if both marked themselves. */
int release_taken(struct Taken *taken, int times, int schema_first) {
    void (*release_schema)(struct ArrowSchema *) = taken->schema.release;
    void (*release_array)(struct ArrowArray *) = taken->array.release;
    for (int i = 0; i < times; i++) {
        if (schema_first) release_schema(&taken->schema);
        release_array(&taken->array);
        if (!schema_first) release_schema(&taken->schema);
    }
    int is_marked = taken->schema.release == NULL && taken->array.release == NULL;
    free(taken);
    return is_marked;
}

/* Reads a batch after it was released, which must not be done: valgrind has to see it. */
uint64_t read_late(struct Taken *taken) {
    const void *values = taken->array.children[0]->buffers[1];
    int64_t length = taken->array.length;
    taken->array.release(&taken->array);
    taken->schema.release(&taken->schema);
    free(taken);
    return sum(values, length);
}
