import type * as z from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import type { Admitted } from '#shared/people/active.ts';
import type { Directory } from '#shared/people/directory.ts';
import type { SecondFactorRule } from '#shared/people/second-factor/need.ts';
import type { KeptKind, VerifierKind } from '#shared/people/verifier-kind.ts';
import type { Verifiers } from '#shared/people/verifiers.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { AuthRequest, Scheme } from '../../scheme.ts';
import type { TokenVerifier } from '../../tokens/token-verifier.ts';
import type { Gss } from './gss.ts';
import type { OAuthSchemes } from './oauth.ts';
import type { TrustedIssuer } from './token-issuer.ts';

/** The parts of a server that its schemes need. */
export interface SchemeParts {
  readonly stores: Stores;
  readonly feed: RevocationFeed;
  /** The master secret, from which each scheme derives its own keys. */
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly directory: Directory;
  readonly verifiers: Verifiers;
  readonly attempts: Attempts;
  /** The brand of a scheme's own pages. */
  readonly brand: Brand;
  /** Which people are accepted; with `demo` also the keys that the first start created. */
  readonly admitted: Admitted;
  /**
   * Applies to people who must use a second factor: a key admits them only if they had signed in with a second factor
   * when they added it.
   */
  readonly secondFactor: SecondFactorRule;
  readonly oauth: OAuthSchemes;
  /** The origin of the authorization server. */
  readonly issuer: string;
  /** Whether Client-Cert from a trusted proxy proves the certificate of a GNAP client. */
  readonly mtls: boolean;
  /** Verifies the access tokens of the authorization server. */
  readonly tokens: TokenVerifier;
  /** The GSS-API; undefined if Negotiate is off. */
  readonly gss: Gss | undefined;
  /** Returns the issuer with a name, always the same object; without a name, the issuer of this pair of servers. */
  readonly issuers: (name: string | undefined) => TrustedIssuer;
  /** Limit of PrivateToken tokens redeemed from one address. */
  readonly redemptions: Rate;
  /** Limit of Mutual's key exchanges from one address. */
  readonly exchanges: Rate;
}

/** A protection space or proxy for which a scheme asks for credentials. */
export interface SchemeRealm {
  readonly realm: string;
  /** URLs for which the credentials are valid; absent at a proxy (RFC 7616 section 3.3). */
  readonly domain?: readonly string[];
}

/** A protection space. */
export interface SchemeSpace extends SchemeRealm {
  /** The identifier of the space (RFC 9728), which is the audience of its tokens. */
  readonly url: string;
  /** Returns the scopes that a request with this method needs. */
  scopes(method: string): readonly string[];
}

/** Schemas of settings, by member of the configuration. */
export type Settings = Readonly<Record<string, z.ZodType>>;

/** The verifier of a password that a scheme needs in the store. */
export interface SchemeVerifier {
  readonly kinds: readonly KeptKind[];
  /**
   * Returns the kinds of verifiers that a space or the proxy needs, from its `url` and its configured members of
   * `settings`.
   */
  neededBy(settings: never): readonly VerifierKind[];
}

/**
 * An endpoint that belongs to a scheme, such as the one that registers keys (RFC 7486 section 6.2.1). It exists at
 * each origin where a space has the scheme. Its callers need no credentials.
 */
export interface SchemeEndpoint {
  /** The supported methods, besides OPTIONS. */
  readonly methods: readonly string[];
  /**
   * Answers a request; `content` is its complete content. Throws `HttpError`, `BadRequest` and `StoreUnavailable`.
   */
  answer(request: AuthRequest, content: Buffer): Awaitable<Answer>;
}

/** A scheme's endpoints by path, below `/.well-known/`, where no space exists. */
export type SchemeEndpoints = Readonly<Record<string, SchemeEndpoint>>;

/** A space with the scheme, as the scheme's own endpoints need it. */
export interface SchemePlace {
  readonly url: string;
  readonly origin: string;
}

/** A scheme in the list of all schemes: its name, its settings and its factory. */
export interface SchemeEntry {
  /** The name, as registered at IANA. */
  readonly name: string;
  /** Whether a proxy can ask for the scheme, too. Such a scheme identifies people by name and has no scopes. */
  readonly forPeople: boolean;
  /** The scheme checks a password and no second factor, so people who need a second factor are refused. */
  readonly passwordAlone?: true;
  /** Members of a space's configuration for this scheme. */
  readonly settings: Settings;
  /** Absent if the scheme does not use passwords, or receives the password itself. */
  readonly verifier?: SchemeVerifier;
  /**
   * The scheme's space in the tour (`/schemes/PATH/`), with members beside the usual ones; absent if the tour does
   * not show the scheme.
   */
  readonly trial?: {
    readonly path: string;
    readonly members?: object;
    /** The scheme never announces itself, so lists for clients omit it. */
    readonly quiet?: true;
  };
  /**
   * Loads the scheme and opens its shared parts; each server calls it once. Resolves to a function that makes the
   * scheme for a space or a proxy with its configured members of `settings`.
   */
  open(parts: SchemeParts): Promise<(at: never) => Scheme>;
  /** The scheme works only at https origins; elsewhere it neither announces itself nor has endpoints. */
  readonly overTls?: true;
  /**
   * The scheme's credentials are bound to one origin: a listener of that origin shows a certificate for that name,
   * and resumes no TLS session (RFC 7486 sections 3 and 6.3).
   */
  readonly originBound?: true;
  /** Opens the scheme's endpoints. Each server calls it once, if a space has the scheme. */
  endpoints?(parts: SchemeParts, places: readonly SchemePlace[]): Promise<SchemeEndpoints>;
}
