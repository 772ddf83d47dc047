// An MCP server with sessions, streams and resumption, in Express, behind Countersign.
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import express from 'express';
import { z } from 'zod';
import { EventLog } from './event-log.mjs';

const { BEHIND, ORIGIN, PORT } = process.env;
const { identify, caller, judgeCalls } = await import(`./behind-${BEHIND}.mjs`);

const notes = [];
/** Functions to call with each new note. */
const watchers = new Set();

function notesServer() {
  const info = { name: 'notes', version: '1.0.0' };
  const server = new McpServer(info, { capabilities: { logging: {} } });
  const said = (text) => ({ content: [{ type: 'text', text }] });
  const tell = ({ sendNotification }, data) =>
    sendNotification({ method: 'notifications/message', params: { level: 'info', data } });

  server.registerTool('add_note', { inputSchema: { note: z.string() } }, ({ note }) => {
    notes.push(note);
    for (const watcher of watchers) watcher(note);
    return said(`added ${note}`);
  });

  const watching = { inputSchema: { count: z.number(), cut: z.boolean().default(false) } };
  server.registerTool('watch_notes', watching, async ({ count, cut }, call) => {
    await tell(call, 'watching');
    const { promise, resolve } = Promise.withResolvers();
    let told = 0;
    const watcher = async (note) => {
      await tell(call, note);
      told += 1;
      if (cut) call.closeSSEStream();
      if (told === count) resolve();
    };
    watchers.add(watcher);
    await promise;
    watchers.delete(watcher);
    return said(`watched ${count}`);
  });

  server.registerTool('print', { inputSchema: { pages: z.number() } }, async ({ pages }, call) => {
    for (let page = 0; page < pages; page += 1) await tell(call, `${page} ${'x'.repeat(65_536)}`);
    return said(`printed ${pages}`);
  });
  return server;
}

/** Sessions by `Mcp-Session-Id`, each with the id of the person or application that began it. */
const sessions = new Map();

async function begin(owner) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, { owner, transport }),
    onsessionclosed: (id) => void sessions.delete(id),
    eventStore: new EventLog(),
    retryInterval: 10,
  });
  await notesServer().connect(transport);
  return { owner, transport };
}

const app = express();

// The MCP specification requires a check of Origin, against pages that rebind a name to this server.
app.use('/mcp', ({ headers: { origin } }, response, next) => {
  if (origin === undefined || origin === ORIGIN) next();
  else response.status(403).end();
});

// The gateway answers preflights itself, and replaces an application's CORS fields.
if (BEHIND === 'guard') {
  app.use('/mcp', ({ method, headers: { origin } }, response, next) => {
    if (origin === undefined) return next();
    const exposed = 'Mcp-Session-Id, WWW-Authenticate';
    const common = { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
    response.set({ ...common, 'Access-Control-Expose-Headers': exposed });
    if (method !== 'OPTIONS') return next();
    const fields =
      'Authorization, Content-Type, Mcp-Session-Id, Mcp-Protocol-Version, Last-Event-ID';
    response.set('Access-Control-Allow-Methods', 'GET, POST, DELETE');
    response.set('Access-Control-Allow-Headers', fields).status(204).end();
  });
}

app.use(...identify);
app.post('/mcp', express.json(), judgeCalls);
app.all('/mcp', async (request, response) => {
  const { id } = caller(request);
  const named = request.headers['mcp-session-id'];
  const isFirst = named === undefined && isInitializeRequest(request.body);
  const session = isFirst ? await begin(id) : sessions.get(named);
  // The id of a session is no proof of identity: another person's session gets the answer for an unknown
  // one.
  if (session?.owner !== id) response.status(named === undefined ? 400 : 404).end();
  else await session.transport.handleRequest(request, response, request.body);
});
app.listen(PORT, '127.0.0.1', () => console.log('listening'));
