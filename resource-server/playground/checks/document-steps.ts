import { checkMethod } from '#shared/http/method-rules.ts';
import { SERVED } from '#shared/http/methods.ts';
import { kindOf, METHODS_OF } from '../../resources/place/kinds.ts';
import { accepted } from '../../space/options.ts';
import { refusalOfBasic } from './basic.ts';
import { CONDITION_STEPS, RANGE_STEPS } from './condition-steps.ts';
import { CONTENT_STEPS, PATCH_STEP } from './content-steps.ts';
import type { DocumentKnown } from './document-known.ts';
import type { CheckStep } from './in-order.ts';

/** The methods of what is at the place of a request. */
function methodsThere({ path, document, kept }: DocumentKnown): readonly string[] {
  if (kept !== undefined) return METHODS_OF.kept;
  const entry =
    path === ''
      ? ({ kind: 'collection' } as const)
      : document && ({ kind: 'document', type: document.type } as const);
  return METHODS_OF[kindOf({ entry, path, slash: path === '' })];
}

/** The checks of a request, in the order of a server of documents. */
export const DOCUMENT_STEPS: readonly CheckStep<DocumentKnown>[] = [
  {
    check: 'The server knows the method. Upper and lower case are different.',
    section: 'RFC 9110 section 9.1',
    finds({ method }) {
      checkMethod(method, { known: SERVED });
      return undefined;
    },
  },
  {
    check: 'The credentials are right.',
    section: 'RFC 7617 section 2',
    finds: ({ asked }) => refusalOfBasic(asked)?.reason,
  },
  {
    check: 'This address takes the method.',
    section: 'RFC 9110 section 15.5.6',
    finds(known) {
      const methods = accepted({}, methodsThere(known));
      const isMissing = known.path !== '' && known.document === undefined;
      checkMethod(known.method, { methods, missing: isMissing });
      return undefined;
    },
  },
  ...CONTENT_STEPS,
  ...CONDITION_STEPS,
  PATCH_STEP,
  ...RANGE_STEPS,
];
