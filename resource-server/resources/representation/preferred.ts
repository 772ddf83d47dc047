import type { PreferredReturn } from '#shared/http/prefer.ts';
import type { Document } from '#shared/stores/trees/trees.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';
import { GUARDED, wholeFields, written } from './representation.ts';

/**
 * What was written, and its validators (`written`); or, if the client prefers that (RFC 7240 section 4.2), the
 * document itself as GET would send it. Content-Location says that it is what is at the target (RFC 9110 section
 * 8.7), and its freshness, none, is explicit: so a cache may keep it for GET (RFC 5789 section 2), and asks again
 * each time as for all documents. What GET sends follows from no preference, so there is nothing to vary by.
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
  /** Of the document. */
  readonly content: Buffer;
}
