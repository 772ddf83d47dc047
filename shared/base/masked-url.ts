/** The same URL for people to read: without its password. */
export function maskedUrl(value: string): string {
  if (!URL.canParse(value)) return '***';
  const url = new URL(value);
  if (url.password !== '') url.password = '***';
  return url.href;
}
