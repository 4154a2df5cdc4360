import { z } from 'zod'
import type { RatingFactors } from './events.ts'

export const standardFactors: RatingFactors = {
  size_bands: [
    { below_pence: 5_000_000, factor: 1150 },
    { below_pence: 10_000_000, factor: 1050 },
    { below_pence: 25_000_000, factor: 1000 },
    { below_pence: 50_000_000, factor: 960 },
    { below_pence: null, factor: 930 },
  ],
  premium_basis: { guaranteed: 1000, reviewable: 880 },
  indexation: { none: 1000, rpi: 1040, fixed_percent_each: 12, decreasing: 1000 },
  joint_first_event: 970,
  multi_cover: 950,
  by_answer: [
    {
      key: 'occupation_class',
      cover_types: ['income_protection'],
      values: { '1': 1000, '2': 1250, '3': 1650, '4': 2200 },
    },
  ],
}

/** Changes no rate: what a product has that states no factors. */
export const neutralFactors: RatingFactors = {
  size_bands: [{ below_pence: null, factor: 1000 }],
  premium_basis: { guaranteed: 1000, reviewable: 1000 },
  indexation: { none: 1000, rpi: 1000, fixed_percent_each: 0, decreasing: 1000 },
  joint_first_event: 1000,
  multi_cover: 1000,
  by_answer: [],
}

/** A decimal multiplier with at most four places, for example `1.10`; `1.00` changes nothing. */
export const JourneyLoading = z
  .string()
  .regex(/^\d{1,2}(\.\d{1,4})?$/, 'use a decimal number with at most four places, for example 1.10')
  .refine((text) => /[1-9]/.test(text), { error: 'must be above 0' })
