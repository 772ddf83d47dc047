// An MCP server of version 2 of the SDK, in Hono, behind Countersign.
import { protect } from '@countersign/resource';
import { serve } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { z } from 'zod';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
const guard = protect({
  issuer,
  resource,
  scopes: ['notes:read'],
  client: { id: CLIENT, secret: SECRET },
});
const writes = guard.scopes('notes:write');
const notes = ['first'];

const { fetch } = createMcpHandler(() => {
  const server = new McpServer({ name: 'notes', version: '2.0.0' });
  const said = (text) => ({ content: [{ type: 'text', text }] });
  server.registerTool('list_notes', { inputSchema: z.object({}) }, () => said(notes.join(', ')));
  server.registerTool('add_note', { inputSchema: z.object({ note: z.string() }) }, ({ note }) => {
    notes.push(note);
    return said(`added ${note}`);
  });
  return server;
});

const app = new Hono();
app.get(guard.metadataPath, () => guard.metadata());
app.all('/mcp', async (c) => {
  const verdict = await guard.judge(c.req.raw);
  if (!verdict.ok) return verdict.response;
  const parsedBody = c.req.method === 'POST' ? await c.req.json() : undefined;
  const isWrite = [parsedBody].flat().some((message) => message?.params?.name === 'add_note');
  const more = isWrite ? await writes.judge(c.req.raw) : verdict;
  return more.ok ? fetch(c.req.raw, { parsedBody }) : more.response;
});
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, () =>
  console.log('listening'),
);
