import type { PreferredReturn } from '#shared/http/prefer.ts';
import type { Document } from '#shared/stores/trees/trees.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';
import { GUARDED, wholeFields, written } from './representation.ts';

/**
 * Answers a write: with its validators only (`written`) or, if the client prefers that (RFC 7240 section 4.2),
 * with the document as GET would send it. Content-Location says that this is the representation of the target (RFC
 * 9110 section 8.7), and the explicit freshness is none. So a cache may store it for GET (RFC 5789 section 2), and
 * revalidates it each time as all documents. No Vary is needed, because what GET sends does not depend on the
 * preference.
 */
export function preferred(
  { space, target }: Pick<ResourceContext, 'space' | 'target'>,
  preference: PreferredReturn | undefined,
  { document, created, content }: Written,
): ResourceAnswer {
  const { status, fields } = written(space, document, created);
  const applied = preference && { 'Preference-Applied': `return=${preference}` };
  if (preference !== 'representation') return { status, fields: { ...fields, ...applied } };
  return {
    status: created ? 201 : 200,
    fields: {
      ...wholeFields(document),
      ...fields,
      ...applied,
      'Cache-Control': `${GUARDED['Cache-Control']}, max-age=0`,
      'Content-Location': target.path,
    },
    body: content,
  };
}

interface Written {
  readonly document: Document;
  readonly created: boolean;
  /** The content of the document. */
  readonly content: Buffer;
}
