import type { z } from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import type { Directory } from '#shared/people/directory.ts';
import type { KeptKind, VerifierKind } from '#shared/people/verifier-kind.ts';
import type { Verifiers } from '#shared/people/verifiers.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { AuthRequest, Scheme } from '../../scheme.ts';
import type { Gss } from './gss.ts';
import type { OAuthSchemes } from './oauth.ts';
import type { TrustedIssuer } from './token-issuer.ts';

/** What a server opens its schemes with. */
export interface SchemeParts {
  readonly stores: Stores;
  readonly feed: RevocationFeed;
  /** The master secret; each scheme derives its own keys of it. */
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly directory: Directory;
  readonly verifiers: Verifiers;
  readonly attempts: Attempts;
  /** Of the pages that a scheme has of its own. */
  readonly brand: Brand;
  /** Whether what the first start made is taken (never in production). */
  readonly demo: boolean;
  readonly oauth: OAuthSchemes;
  /** Undefined: Negotiate is off. */
  readonly gss: Gss | undefined;
  /** The issuer of that name, one object for each; undefined: this pair's. */
  readonly issuers: (name: string | undefined) => TrustedIssuer;
  /** Of the tokens of PrivateToken from one address. */
  readonly redemptions: Rate;
  /** Of key exchanges from one address. */
  readonly exchanges: Rate;
}

/** Where a scheme asks for credentials: a protection space, or a proxy. */
export interface SchemeRealm {
  readonly realm: string;
  /** URLs that the credentials are for; absent at a proxy (RFC 7616 section 3.3). */
  readonly domain?: readonly string[];
}

/** A protection space. */
export interface SchemeSpace extends SchemeRealm {
  /** Identity of the space (RFC 9728), and audience of its tokens. */
  readonly url: string;
  /** Scopes that a request of this method needs. */
  scopes(method: string): readonly string[];
}

/** By member of the configuration. */
export type Settings = Readonly<Record<string, z.ZodType>>;

/** What is kept of people's passwords for a scheme. */
export interface SchemeVerifier {
  readonly kinds: readonly KeptKind[];
  /** Those that a space or the proxy needs, by `url` and the members of `settings` as they are configured. */
  neededBy(settings: never): readonly VerifierKind[];
}

/**
 * An address of a scheme's own, such as that where keys are registered (RFC 7486 section 6.2.1): at each origin
 * where a space has the scheme. Nobody has to be let in to ask it.
 */
export interface SchemeEndpoint {
  /** Besides OPTIONS. */
  readonly methods: readonly string[];
  /** `content`: all that came with it. Throws `HttpError`, `BadRequest` and `StoreUnavailable`. */
  answer(request: AuthRequest, content: Buffer): Awaitable<Answer>;
}

/** By path, below `/.well-known/`, where no space is. */
export type SchemeEndpoints = Readonly<Record<string, SchemeEndpoint>>;

/** A space that has the scheme, for the scheme's own addresses. */
export interface SchemePlace {
  readonly url: string;
  readonly origin: string;
}

/** A scheme in the list of all: what it is called, how it is set and how it is made. */
export interface SchemeEntry {
  /** As registered at IANA. */
  readonly name: string;
  /** Whether a proxy can ask for it too: it knows people by their names, and no scopes. */
  readonly forPeople: boolean;
  /** Members of a space's configuration that are about this scheme. */
  readonly settings: Settings;
  /** Absent: it lets nobody in by a password, or sees the password itself. */
  readonly verifier?: SchemeVerifier;
  /** Its space in the tour (`/schemes/PATH/`), with members beside the usual ones; absent: it has none. */
  readonly trial?: {
    readonly path: string;
    readonly members?: object;
    /** It never announces itself, so that it is left out where clients look for one that they know. */
    readonly quiet?: true;
  };
  /**
   * Loads the scheme and opens what all who ask by it share; called once by each server. What comes of it makes
   * the scheme for a space or a proxy, which has the members of `settings` as they are configured.
   */
  open(parts: SchemeParts): Promise<(at: never) => Scheme>;
  /** Only at origins of https: elsewhere it neither announces itself nor has addresses. */
  readonly overTls?: true;
  /**
   * What it lets in by is for one origin alone: a listener that has it shows a certificate of that name, and resumes
   * no session of TLS (RFC 7486 sections 3 and 6.3).
   */
  readonly originBound?: true;
  /** Called once by each server that has such places. */
  endpoints?(parts: SchemeParts, places: readonly SchemePlace[]): Promise<SchemeEndpoints>;
}
