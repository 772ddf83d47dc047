import { metadataDocument, metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import type { Answer, Fields } from '#shared/http/answer.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { Decide } from './decide.ts';
import type { Seen } from './seen.ts';

/** The tokens that the guard accepts, as RFC 9728 describes them. */
export interface Described {
  readonly issuer: string;
  readonly resource: string;
  readonly name: string;
  readonly schemes: readonly string[];
  scopes(method: string): readonly string[];
}

/** Protected resource metadata: its address and its content. */
export interface Metadata {
  readonly path: string;
  readonly answer: Answer;
  /** Returns the same decision, except that every client may read the metadata. */
  beside(decide: Decide): Decide;
}

/** The metadata is public, and scripts need it, too. */
const FIELDS: Fields = {
  'Content-Type': 'application/json',
  'Cache-Control': 'max-age=300',
  'Access-Control-Allow-Origin': '*',
};

const READ: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export function describe({ issuer, resource, name, schemes, scopes }: Described): Metadata {
  const path = new URL(metadataUrl(resource)).pathname;
  const isFor = ({ method, target }: Seen) =>
    READ.has(method) && /^[^?]*/.exec(target)?.[0] === path;

  const all = new Set([...METHODS.keys()].flatMap((method) => scopes(method)));
  const document = metadataDocument({ url: resource, name, issuer, schemes, scopes: [...all] });
  const answer: Answer = { status: 200, fields: FIELDS, body: JSON.stringify(document) };

  return {
    path,
    answer,
    beside: (decide) => (request) => (isFor(request) ? { ok: false, answer } : decide(request)),
  };
}
