/** Returns a URL without its password, for people to read. */
export function maskedUrl(value: string): string {
  if (!URL.canParse(value)) return '***';
  const url = new URL(value);
  if (url.password !== '') url.password = '***';
  return url.href;
}
