import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pair } from '../../pair/pair.ts';
import { overHttp } from '../digest/over-http.ts';
import type { Issuer } from './private-token-client.ts';
import { tlsAgent } from './tls-agent.ts';

/** The issuer of the pair, for a separate client. */
export async function issuerOf(pair: Pair): Promise<Issuer> {
  const { hostname, port, host } = new URL(pair.tokenIssuer);
  const place = { host: hostname, port: Number(port) };
  const ca = await readFile(join(pair.data, 'tls', 'certificate.pem'));
  const client = await pair.addClient('private-token');
  const form = {
    grant_type: 'client_credentials',
    resource: `${pair.tokenIssuer}/private-token/request`,
  };
  const { body } = await pair.post('/token', form, client);
  const fields = [['Authorization', `Bearer ${String(body['access_token'])}`]] as const;
  return { name: host, send: overHttp({ ...place, agent: tlsAgent(place, ca) }), fields };
}
