import { createRecorder } from '#shared/audit/recorder.ts';
import { createDocumentClients } from '#shared/client-documents/document-clients.ts';
import { removeUnused } from '#shared/client-documents/unused.ts';
import { documentNetwork } from '#shared/client-documents/reach.ts';
import { admittedBy, isProduction, ownsTokenOrigin } from '#shared/config/production.ts';
import { localDirectory } from '#shared/people/local.ts';
import { ADDRESS_PATH } from '#shared/people/address-links.ts';
import { LINK_PATH } from '#shared/people/recovery-links.ts';
import { REGISTRATION_PATH } from '#shared/people/registration.ts';
import { createPasswords } from '#shared/people/password.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { WORKER } from '#shared/base/workers.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { everyTokenSpace, tokenIssuerSpaces } from '#shared/config/token-spaces.ts';
import { openVoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Parts, Server } from '#shared/server/process.ts';
import { logged } from '#shared/server/message/request-log.ts';
import { createApp } from './app.ts';
import { auditChores, ownTokensChore } from './start/audit-chores.ts';
import { backupChore } from './start/backup-chore.ts';
import { banner } from './start/banner.ts';
import { logoutChore } from './logout/logout-chore.ts';
import { outboxChore } from './mail/outbox-chore.ts';
import { openMail } from '#shared/mail/transport.ts';
import { openPush } from './gnap/push.ts';
import { openSources } from './sources/sources.ts';
import { createEngine } from './engine/engine.ts';
import { firstAdministrator } from './start/first-administrator.ts';
import { firstStart } from './start/first-start.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { openKeyRing } from '#shared/keys/signing-key-ring.ts';
import { tokenIssuerOverTls } from './token-issuer/over-tls.ts';
import { openTokenIssuer } from './token-issuer/token-issuer.ts';
import { passkeyWarning } from '#shared/config/passkey-warning.ts';
import { isDeepStrictEqual } from 'node:util';
import { registration } from '#shared/config/resource-server-client.ts';
import { isSignInClient, signInRegistrations } from '#shared/config/sign-in-clients.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { BackupSettings } from '#shared/stores/backup/settings.ts';
import { isOverdue, periodBegin } from '#shared/stores/last-backup/last-backup.ts';

/**
 * Builds the authorization server: its keys, engine, app and background work. `terminal`: a person reads the banner, and no
 * file keeps it.
 */
export async function composeAuthorizationServer(parts: Parts, terminal = false): Promise<Server> {
  const { config, stores, log } = parts;
  const life = longestLife(config);
  const development = !isProduction(config);
  const recorder = createRecorder(parts, { who: 'server', how: 'chore' });
  if (WORKER === 1) await recorder.record({ kind: 'configuration.loaded', what: 'authz' });
  const ring = await openKeyRing(keyLifecycle('keys', { ...parts, recorder }), [
    // OpenID Connect Discovery 1.0 section 3 requires RS256 for ID tokens.
    'ES256',
    'RS256',
    ...everyTokenSpace(config).map(({ alg }) => alg),
  ]);
  const passwords = createPasswords();
  const directory = localDirectory({ ...stores, passwords, admitted: admittedBy(config) });
  const network = documentNetwork(config);
  const documents = createDocumentClients({ ...parts, recorder }, network);
  const server = {
    ...parts,
    stores: { ...stores, clients: { ...stores.clients, get: documents.get } },
    documents,
    documentNetwork: network,
    recorder,
    directory,
    passwords,
    realms: neededVerifiers(config),
    longestLife: life,
    development,
    demoClients: development,
    sendPush: openPush(config),
    sources: await openSources(config, parts.clock),
  };
  const engine = createEngine(server, ring, log);
  const { publicKey, signingKeys } = engine;
  const tokenIssuer =
    config.privateTokens &&
    (await openTokenIssuer({ ...parts, recorder, publicKey, voprf: openVoprfThreads() }));
  await registerResourceServer(parts);
  await registerSignInClients(parts);
  if (WORKER === 1) await warnOfPasskeys(parts);
  const app = createApp(server, engine, log, ownsTokenOrigin(config) ? undefined : tokenIssuer);
  const { clock, random } = parts;
  const sweep = {
    name: 'sweep',
    seconds: 60,
    run: () => Promise.all([stores.sweep(), ring.sweep()]),
  };
  const schedule = WORKER === 1 ? config.backup : undefined;
  const backups = schedule?.folder && backupChore(parts, { ...schedule, folder: schedule.folder });
  const unused = {
    name: 'unused clients',
    seconds: 3600,
    run: () => removeUnused({ ...parts, recorder }),
  };
  const logouts = WORKER === 1 ? logoutChore({ ...server, signingKeys }, log) : undefined;
  const trusted = trustedProxies(config.trustedProxies);
  return {
    handler: logged(app, {
      log,
      clock,
      random,
      trusted,
      secret: [LINK_PATH, ADDRESS_PATH, REGISTRATION_PATH],
    }),
    beside: tokenIssuer ? tokenIssuerOverTls(parts, tokenIssuer) : [],
    chores: [
      ...(tokenIssuer?.chores ?? []),
      {
        name: 'keys',
        seconds: 0.5,
        // If the store lost its memory, it gets new keys first and a new epoch then. With the new epoch every older
        // token is refused, and no token of the new epoch is signed by an old key.
        async run() {
          await engine.refreshKeys();
          await stores.revocations.epoch(true);
        },
      },
      ownTokensChore(server),
      ...(WORKER === 1 ? [sweep, unused, ...auditChores(parts)] : []),
      ...(logouts ? [logouts] : []),
      ...(backups ? [backups] : []),
      ...(schedule ? [backupWatch(parts, schedule)] : []),
      ...(config.mail ? [outboxChore(server, await openMail(config), log)] : []),
    ],
    holds: {
      async [Symbol.asyncDispose]() {
        if (logouts) await logouts[Symbol.asyncDispose]();
        if (backups) await backups[Symbol.asyncDispose]();
        await recorder.tellOwnTokens(Infinity).catch((error: unknown) => {
          log.error('audit.failing', { reason: String(error) });
        });
      },
    },
    report:
      WORKER === 1
        ? {
            banner: development
              ? banner(config, await firstStart(server))
              : banner(config, {}, await firstAdministrator(server, terminal)),
          }
        : undefined,
  };
}

/**
 * Registers the resource server of this pair as a client that may have tokens verified. Registers it again after the
 * issuer or the master secret changed. If an operator removed the registration, it stays removed.
 */
export async function registerResourceServer(
  parts: Pick<Parts, 'config' | 'stores' | 'master' | 'clock'>,
): Promise<void> {
  const { config, stores, master, clock } = parts;
  const verify = tokenIssuerSpaces(config)?.verify.url;
  if (verify === undefined) return;
  const client = registration(verify, master, clock);
  const there = await stores.clients.get(client.client_id);
  if (there === undefined) {
    const generation = await stores.revocations.generation('client', client.client_id);
    if (generation === 0) await stores.clients.add(client);
  } else if (!isDeepStrictEqual({ ...there, created_at: 0 }, { ...client, created_at: 0 })) {
    await stores.clients.replace({ ...client, created_at: there.created_at });
  }
}

/**
 * Registers the clients through which people sign in before applications, according to the configuration. A client that
 * an operator removed stays removed; a client whose space is gone is removed.
 */
export async function registerSignInClients({
  config,
  stores: { clients, revocations },
  master,
  clock,
}: Pick<Parts, 'config' | 'stores' | 'master' | 'clock'>): Promise<void> {
  const due = signInRegistrations(config, master, clock);
  for (const client of due) {
    const there = await clients.get(client.client_id);
    if (there === undefined) {
      if ((await revocations.generation('client', client.client_id)) === 0) {
        await clients.add(client);
      }
    } else if (!isDeepStrictEqual({ ...there, created_at: 0 }, { ...client, created_at: 0 })) {
      await clients.replace({ ...client, created_at: there.created_at });
    }
  }
  const ids = new Set(due.map(({ client_id: id }) => id));
  for (const { client_id: id } of await clients.list()) {
    if (isSignInClient(id) && !ids.has(id)) await clients.remove(id);
  }
}

/** Seconds between two checks. A server that stood still for a long time makes its backup before the first check. */
const LOOK = 600;

/**
 * Warns once after each period without a successful backup, whichever process makes backups. If the store never had a
 * backup, the first period begins at the start of the server.
 */
export function backupWatch(
  { stores: { lastBackup }, clock, log }: Pick<Parts, 'stores' | 'clock' | 'log'>,
  { every }: Pick<BackupSettings, 'every'>,
): Chore {
  const started = clock.now();
  let warned = -Infinity;
  return {
    name: 'backup watch',
    seconds: LOOK,
    async run() {
      const now = clock.now();
      const period = periodBegin(now, every);
      if (warned === period) return;
      const last = await lastBackup.get();
      if (!isOverdue(last ?? started, now, every)) return;
      warned = period;
      const at = last === undefined ? 'none is known' : `the last is of ${timeOf(last)}`;
      log.warn('backup.overdue', { reason: `no good backup for ${every} seconds: ${at}` });
    },
  };
}

const timeOf = (at: number) => new Date(at).toISOString();

/**
 * The most passkeys that a start reads: after a change of the domain the passkeys of the first people are for the
 * former domain.
 */
const LOOKED_AT = 1_000;

/** Logs a warning if people have passkeys for another domain than that of the configuration. */
export async function warnOfPasskeys({
  config,
  stores: { passkeys },
  log,
}: Pick<Parts, 'config' | 'log'> & {
  readonly stores: Pick<Parts['stores'], 'passkeys'>;
}): Promise<void> {
  const warning = await passkeyWarning(config, passkeys, LOOKED_AT);
  if (warning !== undefined) {
    log.warn('passkeys.other-domain', { reason: `${warning.path} ${warning.message}` });
  }
}
