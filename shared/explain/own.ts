/**
 * Returns a row of a table. A name from a client may be the name of a method, such as `toString`, which is no row.
 */
export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
