// An MCP server with SDK version 2 on Hono, behind Countersign.
import { protect } from '@countersign/resource';
import { serve } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { z } from 'zod';

const { BEHIND, ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
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

/** For a server that clients reach directly, and that verifies tokens itself. */
function behindGuard() {
  const guard = protect({
    issuer,
    resource,
    scopes: ['notes:read'],
    client: { id: CLIENT, secret: SECRET },
  });
  const calls = guard.tools({ add_note: ['notes:write'] });
  app.get(guard.metadataPath, () => guard.metadata());
  app.all('/mcp', async (c) => {
    const verdict = await guard.judge(c.req.raw);
    if (!verdict.ok) return verdict.response;
    const parsedBody = c.req.method === 'POST' ? await c.req.json() : undefined;
    const called = await calls(parsedBody).judge(c.req.raw);
    return called.ok ? fetch(c.req.raw, { parsedBody }) : called.response;
  });
}

// Only the gateway can reach this server, and it has checked the token and the call.
if (BEHIND === 'gateway') app.all('/mcp', (c) => fetch(c.req.raw));
else behindGuard();

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, () =>
  console.log('listening'),
);
