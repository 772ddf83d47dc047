import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { valuesOf } from './exchange.ts';
import type { Field, HttpRequest, HttpResponse, Send } from './exchange.ts';

export interface Place {
  /** The host of the connection: an origin or a proxy. */
  readonly host: string;
  readonly port: number;
  /** Manages kept connections and tunnels; default: Node's own agent. */
  readonly agent?: Agent;
}

/**
 * Sends over HTTP/1.1. Fields are sent unchanged, even duplicates; missing `Host` and `Content-Length` are
 * added. A trailer is read; `TE: trailers` asks for one. After a refused CONNECT the content is not read
 * and the connection is closed.
 */
export function overHttp(place: Place): Send {
  const { host, port, agent } = place;
  return (request) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({
        ...(agent === undefined ? {} : { agent }),
        host,
        port,
        method: request.method,
        path: request.target,
        headers: complete(request, `${host}:${port}`).flat(),
      });
      sent.on('error', reject);
      sent.on('response', (message) => void read(message).then(resolve, reject));
      onConnect(sent, resolve);
      sent.end(request.content);
    });
}

/** Sends all requests through one tunnel, one after another; ends with the tunnel. */
export function tunnelAgent(tunnel: Duplex): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => tunnel;
  return agent;
}

function complete({ method, target, fields, content }: HttpRequest, peer: string): Field[] {
  const added: Field[] = [];
  if (valuesOf(fields, 'Host').length === 0) added.push(['Host', authority(method, target, peer)]);
  const framed = ['Content-Length', 'Transfer-Encoding'].some(
    (n) => valuesOf(fields, n).length > 0,
  );
  if (!framed && content.length > 0) added.push(['Content-Length', String(content.length)]);
  return [...added, ...fields];
}

/** Host is the target's host, not the connection's (RFC 9112 sections 3.2.2 and 3.2.3). */
function authority(method: string, target: string, peer: string): string {
  if (method === 'CONNECT') return target;
  return target.includes('://') ? new URL(target).host : peer;
}

async function read(message: IncomingMessage): Promise<HttpResponse> {
  const content = await buffer(message);
  return { ...head(message), content, trailers: pairs(message.rawTrailers) };
}

/** Node reports every answer to a CONNECT as a tunnel, even a refusal. */
function onConnect(sent: ClientRequest, resolve: (response: HttpResponse) => void): void {
  sent.on('connect', (message, tunnel, first) => {
    const answer = { ...head(message), content: Buffer.alloc(0), trailers: [] };
    const granted = answer.status >= 200 && answer.status < 300;
    if (granted && first.length > 0) tunnel.unshift(first);
    if (!granted) tunnel.destroy();
    resolve(granted ? { ...answer, tunnel } : answer);
  });
}

function head({ statusCode = 0, rawHeaders }: IncomingMessage) {
  return { status: statusCode, fields: pairs(rawHeaders) };
}

function pairs(raw: readonly string[]): readonly Field[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
}
