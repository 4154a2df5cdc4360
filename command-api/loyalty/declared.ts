import { z } from 'zod'
import { CycleRule, TierKey } from '#domain/loyalty/events.ts'
import { Slug } from '#domain/values.ts'

const text = z.string().trim().min(1).max(200)

/** The settings of a loyalty programme. */
export const chosen = {
  name: text,
  tiers: z
    .array(
      z.object({
        key: TierKey,
        name: text,
        threshold: z.int().min(0).nullable().default(null).describe('For information: only the partner sets tiers.'),
      }),
    )
    .max(50),
  cycle: CycleRule.describe('How many months points are counted for, and when the first cycle begins.'),
  products: z.array(Slug).max(100).describe('The products whose policies make a member.'),
}

/** A programme of a set-up file, or of a request that creates one. */
export const DeclaredProgramme = z.object({
  slug: Slug,
  name: chosen.name,
  tiers: chosen.tiers.default([]),
  cycle: chosen.cycle.default({ months: 12, starts: 'confirmation' }),
  products: chosen.products.default([]),
})
export type DeclaredProgramme = z.output<typeof DeclaredProgramme>
