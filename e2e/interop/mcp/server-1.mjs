// An MCP server with SDK version 1 on Express, behind Countersign: each request gets its own server and
// transport.
import { protect } from '@countersign/resource';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { z } from 'zod';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
const guard = protect({
  issuer,
  resource,
  scopes: ['notes:read'],
  client: { id: CLIENT, secret: SECRET },
});
const calls = guard.tools({ add_note: ['notes:write'] });
const notes = ['first'];

function notesServer() {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const said = (text) => ({ content: [{ type: 'text', text }] });
  server.registerTool('list_notes', { inputSchema: {} }, () => said(notes.join(', ')));
  server.registerTool('add_note', { inputSchema: { note: z.string() } }, ({ note }) => {
    notes.push(note);
    return said(`added ${note}`);
  });
  return server;
}

const app = express();
app.use(['/mcp', guard.metadataPath], guard.node());
app.post('/mcp', express.json(), (request, response, next) =>
  calls(request.body).node()(request, response, next),
);
app.post('/mcp', async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = notesServer();
  response.on('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.all('/mcp', (_request, response) => response.status(405).set('Allow', 'POST').end());
app.listen(PORT, '127.0.0.1', () => console.log('listening'));
