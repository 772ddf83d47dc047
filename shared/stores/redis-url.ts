/** The form of a URL, for messages. */
export const REDIS_URL =
  'must be redis://user:password@host:6379 (rediss:// for TLS), and a / or # of the password is %2F or %23, a % is %25';

/** Whether the value is the URL of a server, perhaps with a user and a database. */
export function isRedisUrl(value: string): boolean {
  if (!/^rediss?:\/\/[^/]/.test(value) || !URL.canParse(value)) return false;
  const { username, password, pathname, search, hash } = new URL(value);
  if (!/^(?:\/\d*)?$/.test(pathname) || search !== '' || hash !== '') return false;
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
