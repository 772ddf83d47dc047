/** `npm run test:bench`: tests of the benchmarks themselves. */
import { jest } from '../setup/configuration.ts';

export default {
  ...jest,
  testMatch: ['<rootDir>/e2e/bench/**/*.test.ts'],
  testPathIgnorePatterns: [],
};
