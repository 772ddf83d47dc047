import { BadDocument, readDocument } from '#shared/client-documents/document.ts';
import { jsonOf, type Send } from '#shared/client/send.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { Failure } from '../arguments/command.ts';

/**
 * Reads the Client ID Metadata Document of a client. This program can act as the client only if it has no key and a
 * loopback redirect URI (RFC 8252 section 7.3). Returns that URI, preferably with an IP address rather than a name
 * (section 8.3). Throws `Failure`.
 */
export async function describedRedirect(send: Send, clientId: string): Promise<URL> {
  const reply = await send({
    method: 'GET',
    url: clientId,
    fields: { accept: 'application/json' },
  });
  if (reply.status !== 200) throw new Failure(`${clientId} answers ${reply.status}`);
  const { method, redirectUris } = described(clientId, jsonOf(reply));
  if (method !== 'none') {
    throw new Failure(`${clientId} is a client that proves who it is, by a key that is not here`);
  }
  const loopback = redirectUris
    .map((uri) => new URL(uri))
    .filter(({ protocol, hostname }) => protocol === 'http:' && isLoopback(hostname));
  const [first] = loopback.toSorted((a, b) => rank(a) - rank(b));
  if (first === undefined) {
    throw new Failure(
      `${clientId} has no redirect URI at loopback, such as http://127.0.0.1/callback`,
    );
  }
  return first;
}

const rank = ({ hostname }: URL) => Number(hostname === 'localhost');

function described(clientId: string, content: unknown) {
  try {
    return readDocument(clientId, content);
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error;
    throw new Failure(`${clientId} describes no client that can be used: ${error.message}`);
  }
}
