import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { documentServer, webDocument } from '#shared/client-documents/document-server.fixture.ts';
import { type Pair, type PairOptions, startPair } from '../../pair/pair.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';

/** The pair, and a site with client documents of unregistered clients. */
export interface McpSite extends AsyncDisposable {
  readonly pair: Pair;
  /**
   * Adds the document of a program on the person's machine, which gets its answers at any loopback port, at
   * `/callback`. Returns its `client_id`.
   */
  describeClient(name: string, members?: object): string;
}

/** Starts the pair and the site. The servers trust the site's certificate. */
export async function startMcpSite(settings?: PairOptions['settings']): Promise<McpSite> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  const documents = parts.use(await documentServer());
  const trusted = join(folder.path, 'documents.pem');
  await writeFile(trusted, documents.certificate);
  const pair = parts.use(
    await startPair({
      ...(settings && { settings }),
      env: { NODE_EXTRA_CA_CERTS: trusted },
    }),
  );
  const owned = parts.move();
  return {
    pair,
    describeClient(name, members = {}) {
      const path = `/${name}.json`;
      const clientId = `${documents.origin}${path}`;
      const own = { redirect_uris: ['http://127.0.0.1/callback'], ...members };
      documents.documents.set(path, webDocument(clientId, own));
      return clientId;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
