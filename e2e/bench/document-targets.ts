import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { basic } from './gate.ts';
import { furnish } from './library.ts';
import { type Fields, ORIGIN } from './site.ts';
import { startApacheDav } from './targets/apache-dav.ts';
import {
  type Countersign,
  type CountersignOptions,
  type Settings,
  startCountersign,
} from './targets/countersign.ts';

/** A server with all documents, and with valid and invalid credentials. */
export interface DocumentTarget {
  readonly name: string;
  readonly server: Server;
  readonly right: Fields;
  readonly wrong: Fields;
}

const SETTINGS: Settings = {
  resource: ORIGIN,
  spaces: [
    {
      url: `${ORIGIN}/documents/`,
      realm: 'documents',
      schemes: ['Basic'],
      scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
      grants: { everyone: ['documents:read', 'documents:write'] },
    },
  ],
};

interface Who {
  readonly name: string;
  readonly password: string;
}

async function target(name: string, server: Server, who: Who): Promise<DocumentTarget> {
  const right = basic(who.name, who.password);
  await furnish(server, right);
  return { name, server, right, wrong: basic(who.name, `${who.password}!`) };
}

export const APACHE = 'Apache mod_dav';

/** Starts Apache with mod_dav. */
export async function startApacheTarget(stack: AsyncDisposableStack): Promise<DocumentTarget> {
  const { path: folder } = stack.use(await temporaryFolder());
  const who = { name: 'alice', password: 'correct horse battery' };
  const apache = startApacheDav({ username: who.name, password: who.password, folder });
  return target(APACHE, stack.use(await apache), who);
}

export interface OwnTarget extends DocumentTarget {
  readonly servers: Countersign;
}

/** Starts our server; the stack ends it. */
export async function startOwnTarget(
  stack: AsyncDisposableStack,
  name: string,
  settings: Settings = {},
  options?: CountersignOptions,
): Promise<OwnTarget> {
  const servers = stack.use(await startCountersign({ ...SETTINGS, ...settings }, options));
  const { pair, resource } = servers;
  return { ...(await target(name, resource, await pair.addPerson())), servers };
}
