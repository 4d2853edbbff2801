import fc from 'fast-check'

// Loaded before tap in each process of a test run (scripts/tap.mjs): what property tests draw follows from the seed of the run, too, so that
// TEST_SEED repeats them.
fc.configureGlobal({ seed: Number(process.env.TEST_SEED) })
