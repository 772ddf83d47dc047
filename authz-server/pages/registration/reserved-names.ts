import type { Config } from '#shared/config/schema.ts';

/** Returns the names that no person may choose here: the brand, and names that the configuration gives rights. */
export const reservedNames = ({ brand, spaces }: Pick<Config, 'brand' | 'spaces'>) => [
  // Names that people choose have no accents, since readers could confuse Café with Cafe.
  brand.name.normalize('NFD').replaceAll(/[^\p{L}\p{N}]/gu, ''),
  ...spaces.flatMap(({ grants }) => Object.keys(grants.people)),
];
