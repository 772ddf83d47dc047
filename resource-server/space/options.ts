import { allow } from '#shared/http/methods.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { Space } from './spaces.ts';

/** Returns the possible methods that the space allows: HEAD exactly with GET, and OPTIONS always. */
export function accepted(
  { methods: only, trace }: Partial<Pick<Space, 'methods' | 'trace'>>,
  methods: readonly string[],
): readonly string[] {
  const narrowed = methods.filter(
    (method) => only?.has(method === 'HEAD' ? 'GET' : method) ?? true,
  );
  return [...narrowed, 'OPTIONS', ...(trace ? ['TRACE'] : [])];
}

/** The methods without which these fields are left out. */
const METHOD_OF: Readonly<Record<string, string>> = {
  'Accept-Patch': 'PATCH',
  'Accept-Query': 'QUERY',
};

/**
 * Returns the fields that answer OPTIONS for a resource with these methods (RFC 9110 section 9.3.7). With WebDAV they
 * have its classes (RFC 4918 section 10.1), and a field without which Windows assumes FrontPage. With QUERY or PATCH
 * they have the accepted media types (RFC 10008 section 3, RFC 5789 section 3.1).
 */
export function optionsFields(methods: readonly string[], own: Fields = {}): Fields {
  const locks = methods.includes('LOCK') && methods.includes('UNLOCK');
  const fits = ([name]: [string, unknown]) => {
    const method = METHOD_OF[name];
    return method === undefined || methods.includes(method);
  };
  return {
    Allow: allow(methods),
    ...(methods.includes('PROPFIND') && {
      DAV: locks ? '1, 2, 3' : '1, 3',
      'MS-Author-Via': 'DAV',
    }),
    ...Object.fromEntries(Object.entries(own).filter(fits)),
  };
}
