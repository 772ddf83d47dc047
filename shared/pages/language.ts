export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * Returns the language of a page. It is the first supported one in `ui_locales` (OpenID Connect Core 1.0 section
 * 3.1.2.1), otherwise the best in `Accept-Language` (RFC 9110 section 12.5.4), otherwise English. A tag means its
 * language: de-CH is German. Malformed entries are skipped.
 */
export function languageOf(acceptLanguage: string | undefined, uiLocales = ''): Language {
  const wanted = [...uiLocales.split(' '), ...rangesOf(acceptLanguage ?? '')];
  return wanted.map(spoken).find((language) => language !== undefined) ?? 'en';
}

function spoken(tag: string): Language | undefined {
  const [primary] = tag.toLowerCase().split('-');
  return LANGUAGES.find((language) => language === primary);
}

const RANGE =
  /^[ \t]*(?<range>[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(?<q>0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?[ \t]*$/i;

/** Returns language ranges by decreasing quality, without `*` and those of quality 0. */
function rangesOf(acceptLanguage: string): readonly string[] {
  return acceptLanguage
    .split(',')
    .map((element) => RANGE.exec(element)?.groups)
    .map((groups) => ({ range: groups?.['range'] ?? '', q: Number(groups?.['q'] ?? 1) }))
    .filter(({ q }) => q > 0)
    .toSorted((a, b) => b.q - a.q)
    .map(({ range }) => range);
}
