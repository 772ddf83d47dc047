import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An attacker's MCP server, which is its own authorization server, too. */
export interface OtherServer extends AsyncDisposable {
  readonly origin: string;
  /** Its MCP endpoint. */
  readonly url: string;
  /** The documents that it serves, by path. */
  readonly documents: Map<string, object>;
  /** The paths of received requests. */
  readonly asked: string[];
}

/**
 * Starts an MCP server on loopback that refuses every request and names its metadata (RFC 9728 section
 * 5.1).
 */
export async function startOtherServer(): Promise<OtherServer> {
  const documents: OtherServer['documents'] = new Map();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    asked.push(url);
    const found = documents.get(url);
    const metadata = `http://${headers.host}/.well-known/oauth-protected-resource/mcp`;
    const challenge = { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}"` };
    response.writeHead(
      found ? 200 : 401,
      found ? { 'Content-Type': 'application/json' } : challenge,
    );
    response.end(JSON.stringify(found ?? {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    documents,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
