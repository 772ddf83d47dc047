/** `npm run test:bench`: whether the benchmarks measure what they say. */
import { jest } from '../setup/configuration.ts';

export default {
  ...jest,
  testMatch: ['<rootDir>/e2e/bench/**/*.test.ts'],
  testPathIgnorePatterns: [],
};
