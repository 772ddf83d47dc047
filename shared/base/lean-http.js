// node:http has the constructors of WebSocket as getters, and an ES module that imports it evaluates all of them: each
// loads the whole of undici, 14 MB and 40 ms. No code here reads them from node:http.
const http = process.getBuiltinModule('node:http');
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) Reflect.deleteProperty(http, name);
