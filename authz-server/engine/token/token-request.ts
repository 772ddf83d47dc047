import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Log } from '#shared/base/log.ts';
import { orTemporarilyUnavailable } from '../../base/errors.ts';
import type { AuthzServer } from '../../base/server.ts';
import { spendOfSecret } from '../../base/spend.ts';
import { checkAssertion } from '../clients/client-authentication.ts';
import { clientBasedCORS } from '../clients/cors.ts';
import { redirectUriOfCode } from '../codes/redirect-uri-of-code.ts';
import type { AnswerStep } from '../refresh/engine-request.ts';
import { offlineScopeOfRefresh } from '../refresh/offline-scope.ts';
import { isReplaced, mayRefresh, prolonged } from '../refresh/refresh.ts';
import { settled } from '../refresh/settled.ts';
import { written } from '../refresh/written.ts';
import { findAccount } from './find-account.ts';
import { proofs } from './proofs.ts';
import { recordedIssue } from './recorded-issue.ts';
import { tokenClaims } from './token-claims.ts';
import { tokenResponse } from './token-response.ts';

/**
 * POST /token (RFC 6749 section 3.2), from top to bottom. Before it (app.ts) stand the limit of the address, the
 * end of keys that were revoked, the longest form, and our own origin in place of what the network says;
 * around it (answers/error-answers.ts) how a refusal is told. What is refused anywhere has used nothing up.
 */
export const tokenSteps = (server: TokenServer, log: Log) => ({
  /**
   * Client authentication (RFC 6749 section 2.3). The engine finds the client (clients/clients.ts), and compares its
   * secret (`useHashedSecrets`) or looks at its assertion.
   */
  client: {
    clientBasedCORS,
    assertJwtClientAuthClaimsAndHeader: checkAssertion(server), // and after it clients/replay.ts
  } satisfies Configuration,

  /** Limits. The client is who it says, and may use grants of this type: it pays for the request. */
  limits: [spendOfSecret(server)] satisfies readonly GrantStep[],

  /**
   * Grant. The engine then checks the DPoP proof, finds the code or token (codes/, refresh/) and checks what it is
   * bound to.
   */
  grant: [redirectUriOfCode, offlineScopeOfRefresh] satisfies readonly GrantStep[],

  /**
   * Issues the tokens of a code or a refresh token. The engine replaces a refresh token before it signs; its two
   * writes are only noted (`EngineRequest`) and done later together.
   */
  refresh: {
    issueRefreshToken: mayRefresh,
    rotateRefreshToken: isReplaced,
  } satisfies Configuration,

  /** Claims, of the person and of the token. */
  claims: {
    findAccount: findAccount(server),
    extraTokenClaims: (ctx, token) => orTemporarilyUnavailable(tokenClaims(server, ctx, token)),
  } satisfies Configuration,

  /** Answer. The engine has signed, and its answer is no error. */
  answer: [
    proofs(server),
    tokenResponse,
    prolonged(server),
    recordedIssue(server),
    written,
    settled(log), // once the answer is out
  ] satisfies readonly AnswerStep[],
});

export type TokenSteps = ReturnType<typeof tokenSteps>;

/** The parts of the server that the steps use. */
export type TokenServer = Pick<
  AuthzServer,
  'config' | 'stores' | 'clock' | 'directory' | 'feed' | 'longestLife' | 'random' | 'recorder'
>;

/** Before the engine redeems anything; throws what the client is told. */
export type GrantStep = (ctx: KoaContextWithOIDC) => void | Promise<void>;
