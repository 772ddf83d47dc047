import { Agent } from 'node:http';
import { connect } from 'node:tls';
import type { Place } from '../digest/over-http.ts';

/** An agent for HTTP/1.1 over TLS to one server with a certificate of this authority. */
export function tlsAgent({ host, port }: Place, ca: Buffer): Agent {
  const agent = new Agent();
  agent.createConnection = () => connect({ host, port, ca, servername: host });
  return agent;
}
