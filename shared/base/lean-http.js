// node:http has the constructors of WebSocket as getters, and an ES module that imports node:http evaluates all of
// them. Each getter loads the whole of undici, 14 MB and 40 ms. This module removes them, since no code here reads
// them from node:http.
const http = process.getBuiltinModule('node:http');
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) Reflect.deleteProperty(http, name);
