// The language server as an editor talks to it: JSON messages over standard input and output.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Longest wait for an answer [ms]; machines may be slow. */
const PATIENCE = 120_000;

export class Server {
  #process;
  #buffer = Buffer.alloc(0);
  #answers = new Map();
  #diagnostics = new Map();
  #next = 1;

  /** The server that is installed in a folder, after the first exchange of an editor. */
  static async start(tools) {
    const server = new Server(tools);
    await server.#ask("initialize", {
      processId: process.pid,
      rootUri: null,
      capabilities: {
        textDocument: {
          completion: { completionItem: { snippetSupport: false, documentationFormat: ["markdown"] } },
          hover: { contentFormat: ["markdown"] },
          publishDiagnostics: {},
        },
        workspace: { configuration: true },
      },
    });
    server.#tell("initialized", {});
    return server;
  }

  constructor(tools) {
    const program = join(tools, "node_modules/yaml-language-server/bin/yaml-language-server");
    this.#process = spawn(process.execPath, [program, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#process.stdout.on("data", (bytes) => this.#read(bytes));
  }

  stop() {
    this.#process.kill();
  }

  /** Opens a document and returns its problems, each with its line (from 1) and message. */
  async open(path, text) {
    const uri = pathToFileURL(path).href;
    const found = this.#wait((resolve) => this.#diagnostics.set(uri, resolve), `problems of ${path}`);
    this.#tell("textDocument/didOpen", {
      textDocument: { uri, languageId: "yaml", version: 1, text },
    });
    const { diagnostics } = await found;
    return diagnostics.map(({ range, message }) => ({ line: range.start.line + 1, message }));
  }

  /** Labels that complete the word at a place. */
  async complete(path, place) {
    const list = await this.#at("textDocument/completion", path, place);
    return (list.items ?? list ?? []).map((item) => item.label);
  }

  /** Text that is shown over a place. */
  async hover(path, place) {
    const hover = await this.#at("textDocument/hover", path, place);
    return hover?.contents?.value ?? "";
  }

  #at(method, path, position) {
    return this.#ask(method, { textDocument: { uri: pathToFileURL(path).href }, position });
  }

  #ask(method, params) {
    const id = this.#next++;
    const answer = this.#wait((resolve) => this.#answers.set(id, resolve), method);
    this.#send({ id, method, params });
    return answer;
  }

  #wait(register, what) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer: ${what}`)), PATIENCE);
      register((value) => {
        clearTimeout(timer);
        resolve(value);
      });
    });
  }

  #tell(method, params) {
    this.#send({ method, params });
  }

  #send(message) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #read(bytes) {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    for (;;) {
      const end = this.#buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString("utf8", 0, end))[1]);
      if (this.#buffer.length < end + 4 + length) return;
      const body = this.#buffer.toString("utf8", end + 4, end + 4 + length);
      this.#buffer = this.#buffer.subarray(end + 4 + length);
      this.#take(JSON.parse(body));
    }
  }

  #take(message) {
    if (message.method === "textDocument/publishDiagnostics") {
      this.#diagnostics.get(message.params.uri)?.(message.params);
    } else if (message.method === "workspace/configuration") {
      // Settings: those of an editor that has none, without the store of schemas in the network.
      const settings = { validate: true, hover: true, completion: true, schemaStore: { enable: false } };
      const result = message.params.items.map(({ section }) => (section === "yaml" ? settings : null));
      this.#send({ id: message.id, result });
    } else if (message.method && message.id !== undefined) {
      this.#send({ id: message.id, result: null });
    } else if (message.id !== undefined) {
      this.#answers.get(message.id)?.(message.result);
      this.#answers.delete(message.id);
    }
  }
}
