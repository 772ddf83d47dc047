import { createRecorder } from '#shared/audit/recorder.ts';
import { createDocumentClients } from '#shared/client-documents/document-clients.ts';
import { removeUnused } from '#shared/client-documents/unused.ts';
import { documentNetwork } from '#shared/client-documents/reach.ts';
import { isProduction, ownsTokenOrigin } from '#shared/config/production.ts';
import { localDirectory } from '#shared/people/local.ts';
import { ADDRESS_PATH } from '#shared/people/address-links.ts';
import { LINK_PATH } from '#shared/people/recovery-links.ts';
import { REGISTRATION_PATH } from '#shared/people/registration.ts';
import { createPasswords } from '#shared/people/password.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { WORKER } from '#shared/base/workers.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import { openVoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Parts, Server } from '#shared/server/process.ts';
import { logged } from '#shared/server/message/request-log.ts';
import { createApp } from './app.ts';
import { auditChores, ownTokensChore } from './start/audit-chores.ts';
import { backupChore } from './start/backup-chore.ts';
import { backupWatch } from './start/backup-watch.ts';
import { banner } from './start/banner.ts';
import { outboxChore } from './mail/outbox-chore.ts';
import { openMail } from '#shared/mail/transport.ts';
import { openPush } from './gnap/push.ts';
import { createEngine } from './engine/engine.ts';
import { firstStart } from './start/first-start.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { openKeyRing } from '#shared/keys/signing-key-ring.ts';
import { warnOfPasskeys } from './start/warn-of-passkeys.ts';
import { withPlaygroundClient } from './start/playground-client.ts';
import { registerSignInClients } from './start/sign-in-clients.ts';
import { tokenIssuerOverTls } from './token-issuer/over-tls.ts';
import { registerResourceServer } from './token-issuer/register-resource-server.ts';
import { openTokenIssuer } from './token-issuer/token-issuer.ts';

/** Builds the authorization server: its keys, engine, app and background work. */
export async function composeAuthorizationServer(parts: Parts): Promise<Server> {
  const { config, stores, log } = parts;
  const life = longestLife(config);
  const development = !isProduction(config);
  const recorder = createRecorder(parts, { who: 'server', how: 'chore' });
  if (WORKER === 1) await recorder.record({ kind: 'configuration.loaded', what: 'authz' });
  const ring = await openKeyRing(keyLifecycle('keys', { ...parts, recorder }), [
    // OpenID Connect Discovery 1.0 section 3: ID tokens must support RS256.
    'ES256',
    'RS256',
    ...everyTokenSpace(config).map(({ alg }) => alg),
  ]);
  const passwords = createPasswords();
  const directory = localDirectory({ ...stores, passwords, demo: development });
  const network = documentNetwork(config);
  const documents = withPlaygroundClient(
    createDocumentClients({ ...parts, recorder }, network),
    parts,
  );
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
  };
  const engine = createEngine(server, ring, log);
  const { publicKey } = engine;
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
        // A store that lost its memory gets new keys, then a new epoch, with which every older token is
        // refused: no token of the new epoch has a key of the old one.
        async run() {
          await engine.refreshKeys();
          await stores.revocations.epoch(true);
        },
      },
      ownTokensChore(server),
      ...(WORKER === 1 ? [sweep, unused, ...auditChores(parts)] : []),
      ...(backups ? [backups] : []),
      ...(schedule ? [backupWatch(parts, schedule)] : []),
      ...(config.mail ? [outboxChore(server, await openMail(config), log)] : []),
    ],
    holds: {
      async [Symbol.asyncDispose]() {
        if (backups) await backups[Symbol.asyncDispose]();
        await recorder.tellOwnTokens(Infinity).catch((error: unknown) => {
          log.error('audit.failing', { reason: String(error) });
        });
      },
    },
    report:
      WORKER === 1
        ? { banner: banner(config, development ? await firstStart(server) : {}) }
        : undefined,
  };
}
