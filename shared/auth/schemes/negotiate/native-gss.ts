import { Line } from '#shared/base/line.ts';
import { portion } from '#shared/base/workers.ts';
import { busy } from '#shared/http/answer.ts';
import { type Gss, GssRefused, type Step } from '../parts/gss.ts';

/** The part of the npm package `kerberos` that a server needs. Tokens are in base64. */
export interface KerberosModule {
  initializeServer(service: string): Promise<KerberosServer>;
}

interface KerberosServer {
  step(token: string): Promise<unknown>;
  /** Null until the handshake is complete. */
  readonly username: string | null;
  /** The service that the ticket was for; null until the handshake is complete. */
  readonly targetName: string | null;
  /** The module's answer to the last message. */
  readonly response: string | null;
  readonly contextComplete: boolean;
}

/** Calls at the same time: each occupies one of the four threads of the pool, which files and passwords need, too. */
const LANES = 2;
const WAITING = portion(256);

/**
 * Accepts tickets for any key of the keytab, so that no name is looked up in the DNS; the service is checked after
 * the handshake.
 */
const ANY_KEY = '';

/**
 * Makes a GSS-API with MIT Kerberos, off the main thread. The environment variable `KRB5_KTNAME` names the keytab. It
 * accepts tickets for `service`, in the form `HTTP@host`, or for every service HTTP (RFC 4559 section 4.1).
 */
export function nativeGss(kerberos: KerberosModule, service?: string): Gss {
  const line = new Line({ lanes: LANES, most: WAITING, tooMany: busy });
  const taken = service === undefined ? 'HTTP/' : `${service.replace('@', '/')}@`;
  return {
    accept() {
      let server: KerberosServer | undefined;
      return {
        step: (turn, token) =>
          line.run(turn, async () => {
            server ??= await kerberos.initializeServer(ANY_KEY).catch(refuse);
            return stepOf(server, token, taken);
          }),
      };
    },
  };
}

async function stepOf(server: KerberosServer, token: Buffer, taken: string): Promise<Step> {
  // If the handshake needs another message, the module reports an error, but with an answer for the client.
  const failed = await server.step(token.toString('base64')).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const answer = server.response === null ? undefined : Buffer.from(server.response, 'base64');
  if (!server.contextComplete) {
    if (answer === undefined) throw new GssRefused(failed);
    return { done: false, token: answer };
  }
  const { username: principal, targetName } = server;
  if (failed !== undefined || principal === null) throw new GssRefused(failed);
  if (!targetName?.startsWith(taken)) throw new GssRefused(`a ticket for ${targetName}`);
  return { done: true, principal, ...(answer && { token: answer }) };
}

function refuse(error: unknown): never {
  throw new GssRefused(String(error));
}
