import { button, choice, fillIn, h, input, pounds, select } from './elements.ts'
import { questionFields, questionsOf, readAnswers } from './questions.ts'
import { Incomplete } from './screen.ts'
import type { Stage } from './records.ts'
import { unitsOf } from './units.ts'
import { faultsIn, patch, refuse, requireAll, textIn, type Made, type MakeScreen, type Visit } from './visit.ts'

export const amountLabel = 'How much should we pay out?'
export const termLabel = 'For how many years?'

/** Not a number when it is none. */
const penceOf = (text: string): number => Math.round(Number(text.replaceAll(/[£,\s]/g, '')) * 100)

type AmountConfig = {
  readonly amount?: {
    readonly min_pence: number
    readonly max_pence: number
    readonly default_pence?: number | null
    readonly presets_pence?: readonly number[] | null
  }
  readonly term?: {
    readonly min: number
    readonly max: number
    readonly step?: number
    readonly default?: number | null
  } | null
  readonly mode: string
  readonly benefit_label?: string | null
  readonly tiers?: readonly { readonly cover_amount_pence: number; readonly label: string }[]
}

type LevelConfig = {
  readonly levels?: readonly {
    readonly cover_index: number
    readonly label: string | null
    readonly member_premium_pence: number | null
  }[]
}

/** The level of a plan for the people of an employer. */
const level = (visit: Visit, { title, cta_label, config }: Pick<Stage, 'title' | 'cta_label' | 'config'>): Made => {
  const { levels = [] } = config as LevelConfig
  const options = levels.map(({ cover_index, label, member_premium_pence }) => ({
    value: String(cover_index),
    label: `${label ?? 'Cover'}, ${pounds(member_premium_pence ?? 0)} a month for each person`,
  }))
  const held = options.find(({ label }) => label === visit.level) ?? options[0]
  return {
    title,
    body: [choice({ name: 'level', label: 'Choose a level' }, options, { chosen: held ? [held.value] : [] })],
    submit: {
      label: cta_label ?? 'Next',
      send: async (given) => {
        requireAll(given, ['level'])
        const cover_index = Number(textIn(given, 'level'))
        const application = await patch(visit, '', { components: [{ cover_index, selected: true }] })
        visit.next({ application, level: options.find(({ value }) => value === String(cover_index))?.label })
      },
    },
  }
}

export const cover: MakeScreen = (visit, { title, cta_label, config }) => {
  if (config['mode'] === 'members') return level(visit, { title, cta_label, config })
  const { mode, amount, term, benefit_label, tiers: offered = [] } = config as AmountConfig
  const tiers = mode === 'tiers' ? offered : undefined
  const { cover_amount_pence, term_years } = visit.application
  const held = cover_amount_pence ?? amount?.default_pence ?? undefined
  const amountField = input({
    name: 'cover_amount_pence',
    label: benefit_label ?? amountLabel,
    hint: amount ? `From ${pounds(amount.min_pence)} to ${pounds(amount.max_pence)}.` : 'In pounds.',
    inputmode: 'decimal',
    className: 'short',
    value: held === undefined ? '' : (held / 100).toLocaleString('en-GB'),
  })
  const presets = (amount?.presets_pence ?? []).map((pence) =>
    button(pounds(pence), () => fillIn(amountField, (pence / 100).toLocaleString('en-GB'))),
  )
  if (presets.length > 0) amountField.append(h('div', { class: 'choices' }, ...presets))
  const years = term
    ? Array.from({ length: Math.floor((term.max - term.min) / (term.step ?? 1)) + 1 }, (_, step) =>
        String(term.min + step * (term.step ?? 1)),
      )
    : []
  return {
    title,
    body: [
      tiers
        ? choice(
            { name: 'cover_amount_pence', label: 'Choose your cover' },
            tiers.map((tier) => ({ value: String(tier.cover_amount_pence), label: tier.label })),
            { chosen: [String(held)] },
          )
        : amountField,
      term &&
        select(
          {
            name: 'term_years',
            label: termLabel,
            value: String(term_years ?? term.default ?? term.min),
          },
          years.map((value) => ({ value, label: `${value} years` })),
        ),
    ],
    submit: {
      label: cta_label ?? 'Next',
      send: async (given) => {
        requireAll(given, ['cover_amount_pence'])
        const sent = textIn(given, 'cover_amount_pence')
        const pence = tiers ? Number(sent) : penceOf(sent)
        if (amount && !(pence >= amount.min_pence && pence <= amount.max_pence)) {
          const range = `${pounds(amount.min_pence)} to ${pounds(amount.max_pence)}`
          throw new Incomplete({ cover_amount_pence: `enter an amount from ${range}` })
        }
        const application = await patch(visit, '', {
          cover_amount_pence: pence,
          ...(term && { term_years: Number(given.get('term_years')) }),
        })
        visit.next({ application })
      },
    },
  }
}

export const questions: MakeScreen = (visit, stage) => {
  const asked = questionsOf(stage, visit.questions)
  if (asked.length === 0) return undefined
  return {
    title: stage.title,
    body: [questionFields(asked, visit.application, unitsOf(visit.stages))],
    submit: {
      label: stage.cta_label ?? 'Next',
      send: async (given) => {
        const { sent, missing } = readAnswers(asked, visit.application, given)
        refuse({ ...missing, ...faultsIn(given, []) })
        visit.next({ application: await patch(visit, '', { answers: sent }) })
      },
    },
  }
}

export const interstitial: MakeScreen = (visit, { key, title, config }) => {
  const {
    heading,
    body,
    choices = [],
  } = config as {
    readonly heading?: string
    readonly body?: string
    readonly choices?: readonly {
      readonly key: string
      readonly label: string
      readonly goto_stage_key?: string | null
    }[]
  }
  const choose = async (choice_key: string, goTo: string | null | undefined) => {
    const application = await patch(visit, '/interstitial_choice', { choice_key, stage_key: key })
    visit.next({ application }, goTo ?? undefined)
  }
  return {
    title: heading ?? title,
    body: [
      // The text may be Markdown; this page shows it without its marks.
      body !== undefined && h('p', {}, body.replaceAll(/\*\*|__/g, '')),
      choices.length > 0 &&
        choice(
          { name: 'choice', label: 'How would you like to go on?' },
          choices.map((each) => ({ value: each.key, label: each.label })),
        ),
    ],
    submit: {
      label: 'Next',
      send: async (given) => {
        if (choices.length === 0) return visit.next()
        requireAll(given, ['choice'])
        const chosen = choices.find((each) => each.key === given.get('choice'))
        await choose(chosen?.key ?? '', chosen?.goto_stage_key)
      },
    },
  }
}
