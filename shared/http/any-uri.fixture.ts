import { anyCharacter } from '#shared/base/any-text.fixture.ts';
import * as fc from 'fast-check';

const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Texts in the characters of RFC 3986 section 3.3: most characters as they are, some percent-encoded. */
const textOf = (others: string) =>
  fc.string({
    unit: fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom(...(ALPHANUMERIC + others).split('')) },
      { weight: 1, arbitrary: anyCharacter.map(encodeURIComponent) },
    ),
  });

const PCHAR = "-._~!$&'()*+,;=:@";
const afterPath = textOf(`${PCHAR}/?`);

/** RFC 3986 section 3.3, path-abempty. */
export const anyPath = fc
  .array(textOf(PCHAR).map((segment) => `/${segment}`))
  .map((segments) => segments.join(''));

/** An http or https URL without query and fragment. */
export const anyUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), anyPath)
  .map(([scheme, authority, path]) => `${scheme}://${authority}${path}`);

const maybe = (delimiter: string) =>
  fc.option(
    afterPath.map((text) => `${delimiter}${text}`),
    { nil: '' },
  );

/** An http or https URL, sometimes with a query and a fragment. */
export const anyUri = fc.tuple(anyUrl, maybe('?'), maybe('#')).map((parts) => parts.join(''));
