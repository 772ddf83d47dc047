import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const MODULES = new URL('../../../../node_modules/', import.meta.url);

/** The library of each application, and how its page loads the library. */
const LIBRARIES = {
  'oidc-client-ts': {
    file: 'oidc-client-ts/dist/browser/oidc-client-ts.min.js',
    tag: '<script src="/library.js"></script>',
  },
  'okta-auth-js': {
    file: '@okta/okta-auth-js/dist/okta-auth-js.core.min.js',
    tag: '<script src="/library.js"></script>',
  },
  'keycloak-js': { file: 'keycloak-js/lib/keycloak.js', tag: '' },
  oauth4webapi: { file: 'oauth4webapi/build/index.js', tag: '' },
} as const;

/** A click before the application has read its settings would be lost. */
const ENABLE = `for (const button of document.querySelectorAll('button')) button.disabled = false;`;

export type Library = keyof typeof LIBRARIES;

/** Serves a single-page application on an origin of another site than the pair's. */
export class AppServer implements AsyncDisposable {
  readonly origin: string;
  /** The settings that the application reads at `/settings.json`. */
  settings: Readonly<Record<string, unknown>> = {};
  readonly #server: Server;
  readonly #library: Library;

  constructor(server: Server, library: Library, host: string) {
    this.origin = `http://${host}:${(server.address() as AddressInfo).port}`;
    this.#server = server;
    this.#library = library;
    server.on('request', ({ url = '/' }, response) => void this.#answer(url, response));
  }

  /** The redirect URI of the application. */
  get callback(): string {
    return `${this.origin}/callback`;
  }

  async #answer(path: string, response: ServerResponse): Promise<void> {
    const { file, tag } = LIBRARIES[this.#library];
    const page = `<!doctype html><html lang="en"><title>The application</title>
${tag}<script type="module" src="/app.js"></script>
<button disabled>Sign in</button><button disabled>Sign out</button>`;
    const script = async (url: URL, end = '') =>
      ['text/javascript', `${await readFile(url, 'utf8')}\n${end}`] as const;
    const files: Readonly<Record<string, () => Promise<readonly [string, string | Buffer]>>> = {
      '/settings.json': async () => ['application/json', JSON.stringify(this.settings)],
      '/library.js': () => script(new URL(file, MODULES)),
      '/app.js': () => script(new URL(`${this.#library}.js`, import.meta.url), ENABLE),
    };
    const [type, content] = (await files[path]?.()) ?? ['text/html; charset=utf-8', page];
    response.setHeader('Content-Type', type);
    response.end(content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** `host`: a host that browsers treat as another site than the pair's. */
export async function startAppServer(library: Library, host = 'localhost'): Promise<AppServer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new AppServer(server, library, host);
}
