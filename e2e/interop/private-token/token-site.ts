import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { IssuerConfig } from '@cloudflare/privacypass-ts';
import { type Flow, startFlowOn, type StoreKind } from '../../flows/flow.ts';
import { type SendRequest, sendAs } from './privacypass.ts';

type Settings = Readonly<Record<string, unknown>>;

/** The pair with its tour, and an application that may ask for tokens. */
export interface TokenSite extends AsyncDisposable {
  readonly flow: Flow;
  /** The URL of the endpoint for token requests, which is also an audience. */
  readonly requestUrl: string;
  readonly directoryUrl: string;
  /** The application's Authorization field for the issuer. */
  readonly authorization: string;
  /** Sends token requests as the application. */
  readonly send: SendRequest;
  directory(): Promise<IssuerConfig>;
}

/**
 * Starts the pair. Until it ends, this process trusts the pair's TLS certificate, also in `fetch`. `times`:
 * further members of `privateTokens`; `settings`: further members of the configuration.
 */
export async function startTokenSite(
  kind: StoreKind,
  times: Settings = {},
  settings: Settings = {},
): Promise<TokenSite> {
  await using parts = new AsyncDisposableStack();
  const flow = parts.use(
    await startFlowOn(kind, {
      settings: ({ tokenIssuer }) => ({
        privateTokens: { issuer: tokenIssuer, ...times },
        ...settings,
      }),
    }),
  );
  const { pair } = flow;
  parts.use(await trust(join(pair.data, 'tls', 'certificate.pem')));
  const requestUrl = `${pair.tokenIssuer}/private-token/request`;
  const directoryUrl = `${pair.tokenIssuer}/.well-known/private-token-issuer-directory`;
  const client = await pair.addClient('private-token');
  const form = { grant_type: 'client_credentials', resource: requestUrl };
  const { body } = await pair.post('/token', form, client);
  const authorization = `Bearer ${String(body['access_token'])}`;
  const owned = parts.move();
  return {
    flow,
    requestUrl,
    directoryUrl,
    authorization,
    send: sendAs(authorization),
    directory: async () => (await (await fetch(directoryUrl)).json()) as IssuerConfig,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function trust(file: string): Promise<Disposable> {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, await readFile(file, 'utf8')]);
  return { [Symbol.dispose]: () => setDefaultCACertificates(before) };
}
