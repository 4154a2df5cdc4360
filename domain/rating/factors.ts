import { z } from 'zod'
import { CoverType } from '../catalogue/record.ts'
import { Pence } from '../values.ts'

/** Thousandths: 1000 changes nothing. */
const Factor = z.int().positive().max(100_000)

/** What multiplies a rate. A release carries its own. */
export const RatingFactors = z.object({
  /** By sum assured, smallest first; the last band has no upper end. A monthly benefit has no size bands. */
  size_bands: z
    .array(z.object({ below_pence: Pence.positive().nullable(), factor: Factor }))
    .min(1)
    .refine(
      (bands) => bands.every(({ below_pence }, index) => (below_pence === null) === (index === bands.length - 1)),
      {
        error: 'the last band, and no other, has below_pence null',
      },
    )
    .refine(
      (bands) =>
        bands.every(
          ({ below_pence }, index) => below_pence === null || below_pence > (bands[index - 1]?.below_pence ?? 0),
        ),
      { error: 'the bands must ascend' },
    ),
  premium_basis: z.object({ guaranteed: Factor, reviewable: Factor }),
  indexation: z.object({
    none: Factor,
    rpi: Factor,
    /** Added to 1000 for each percent of yearly increase. */
    fixed_percent_each: z.int().min(0).max(1000),
    decreasing: Factor,
  }),
  /** On the sum of both lives' rates. */
  joint_first_event: Factor,
  /** On the second and later covers of a bundled product. */
  multi_cover: Factor,
  /** By the value of an answer, derived ones included, for example a class of occupation. */
  by_answer: z.array(
    z.object({ key: z.string().min(1), cover_types: z.array(CoverType).min(1), values: z.record(z.string(), Factor) }),
  ),
})
export type RatingFactors = z.infer<typeof RatingFactors>

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

/** A decimal multiplier with at most four places, for example `1.10`; `1.00` changes nothing. */
export const JourneyLoading = z
  .string()
  .regex(/^\d{1,2}(\.\d{1,4})?$/, 'use a decimal number with at most four places, for example 1.10')
  .refine((text) => /[1-9]/.test(text), { error: 'must be above 0' })
