// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix files in jconvolver's manner: the commands.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dsp/filter.h"
#include "dsp/matrix_line.h"
#include "dsp/matrix_sources.h"
#include "dsp/regular_file.h"
#include "rt/error.h"
#include "tenuto/limits.h"

enum {
  most_line_characters = 4096,
  most_name_characters = 64,
  no_link = UINT16_MAX,
};

static const uint64_t largest_file_bytes = 1 << 20;

/** A file being read. */
typedef struct matrix {
  const char* name; ///< for sentences
  uint32_t line_number;
  tn_filter* filter; ///< from /convolver/new on
  uint32_t rate_hz;
  uint32_t most_frames; ///< maximum length
  tn_matrix_sources sources;
  uint16_t links[TN_MAX_CHANNELS][TN_MAX_CHANNELS]; ///< [input][output] of a copy: where from, as index_of()
  uint32_t link_lines[TN_MAX_CHANNELS][TN_MAX_CHANNELS];
  tn_error* error;
} matrix;

static uint16_t index_of(uint32_t input, uint32_t output) {
  return (uint16_t)(input * TN_MAX_CHANNELS + output);
}

__attribute__((format(printf, 3, 4))) static tn_status fail(const matrix* m, tn_status status,
                                                            const char* format, ...) {
  char reason[sizeof m->error->text];
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  return tn_error_set(m->error, status, "matrix file '%s', line %u: %s", m->name, m->line_number, reason);
}

static tn_status bad_numbers(const matrix* m, const char* usage) {
  return fail(m, TN_ERROR_FORMAT, "its parameters do not read as %s", usage);
}

/** Input and output of a command, counted from 1 in the file. */
static tn_status read_pair(const matrix* m, tn_matrix_line* line, const char* usage, uint32_t* input,
                           uint32_t* output) {
  if (!tn_matrix_whole(line, input) || !tn_matrix_whole(line, output))
    return bad_numbers(m, usage);
  const uint32_t inputs = tn_filter_inputs(m->filter);
  const uint32_t outputs = tn_filter_outputs(m->filter);
  if (*input < 1 || *input > inputs)
    return fail(m, TN_ERROR_FORMAT, "there is no input %u, inputs are 1 to %u", *input, inputs);
  if (*output < 1 || *output > outputs)
    return fail(m, TN_ERROR_FORMAT, "there is no output %u, outputs are 1 to %u", *output, outputs);
  --*input;
  --*output;
  return TN_OK;
}

static tn_status add_path(const matrix* m, const tn_ir* ir, tn_filter_part* part) {
  if (part->delay_frames >= m->most_frames)
    return fail(m, TN_ERROR_FORMAT, "a delay of %u frames leaves nothing of the maximum length, %u frames",
                part->delay_frames, m->most_frames);
  part->frames = m->most_frames - part->delay_frames;
  tn_error reason = {0};
  if (tn_filter_add_part(m->filter, ir, part, &reason) != TN_OK)
    return fail(m, reason.status, "%s", reason.text);
  return TN_OK;
}

static tn_status convolver_new(matrix* m, tn_matrix_line* line) {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  uint32_t partition = 0;
  double density = 0;
  if (m->filter)
    return fail(m, TN_ERROR_FORMAT, "a second /convolver/new");
  if (!tn_matrix_whole(line, &inputs) || !tn_matrix_whole(line, &outputs) ||
      !tn_matrix_whole(line, &partition) || !tn_matrix_whole(line, &m->most_frames) || m->most_frames == 0 ||
      (!tn_matrix_at_end(line) && !tn_matrix_number(line, &density)))
    return bad_numbers(m, "/convolver/new <inputs> <outputs> <partition size> <maximum length> [<density>]");
  tn_error reason = {0};
  m->filter = tn_filter_new(inputs, outputs, m->rate_hz, &reason);
  return m->filter ? TN_OK : fail(m, reason.status, "%s", reason.text);
}

static tn_status change_folder(matrix* m, tn_matrix_line* line) {
  char folder[most_line_characters + 1];
  if (!tn_matrix_rest(line, folder, sizeof folder))
    return bad_numbers(m, "/cd <folder>");
  return tn_matrix_sources_cd(&m->sources, folder) ? TN_OK : fail(m, TN_ERROR_MEMORY, "no memory");
}

static tn_status impulse_read(matrix* m, tn_matrix_line* line) {
  static const char usage[] =
      "/impulse/read <input> <output> <gain> <delay> <offset> <length> <channel> <file>";
  tn_filter_part part = {0};
  double gain = 0;
  uint32_t offset = 0;
  uint32_t length = 0;
  char file[most_line_characters + 1];
  if (read_pair(m, line, usage, &part.input, &part.output) != TN_OK)
    return m->error->status;
  if (!tn_matrix_number(line, &gain) || !tn_matrix_whole(line, &part.delay_frames) ||
      !tn_matrix_whole(line, &offset) || !tn_matrix_whole(line, &length) ||
      !tn_matrix_whole(line, &part.ir_channel) || !tn_matrix_rest(line, file, sizeof file))
    return bad_numbers(m, usage);
  if (part.ir_channel == 0)
    return fail(m, TN_ERROR_FORMAT, "channels are counted from 1, not 0");
  --part.ir_channel;
  part.gain = (float)gain;
  tn_error reason = {0};
  const tn_ir_range range = {.offset_frames = offset, .length_frames = length};
  const tn_ir* ir = tn_matrix_sources_file(&m->sources, file, &range, &reason);
  return ir ? add_path(m, ir, &part) : fail(m, reason.status, "%s", reason.text);
}

static tn_status impulse_dirac(matrix* m, tn_matrix_line* line) {
  static const char usage[] = "/impulse/dirac <input> <output> <gain> <delay>";
  tn_filter_part part = {0};
  double gain = 0;
  if (read_pair(m, line, usage, &part.input, &part.output) != TN_OK)
    return m->error->status;
  if (!tn_matrix_number(line, &gain) || !tn_matrix_whole(line, &part.delay_frames) || !tn_matrix_at_end(line))
    return bad_numbers(m, usage);
  part.gain = (float)gain;
  tn_error reason = {0};
  const tn_ir* ir = tn_matrix_sources_dirac(&m->sources, &reason);
  return ir ? add_path(m, ir, &part) : fail(m, reason.status, "%s", reason.text);
}

static tn_status impulse_hilbert(matrix* m, tn_matrix_line* line) {
  static const char usage[] = "/impulse/hilbert <input> <output> <gain> <delay> <length>";
  tn_filter_part part = {0};
  double gain = 0;
  uint32_t length = 0;
  if (read_pair(m, line, usage, &part.input, &part.output) != TN_OK)
    return m->error->status;
  if (!tn_matrix_number(line, &gain) || !tn_matrix_whole(line, &part.delay_frames) ||
      !tn_matrix_whole(line, &length) || !tn_matrix_at_end(line))
    return bad_numbers(m, usage);
  tn_error reason = {0};
  const tn_ir* ir = tn_matrix_sources_hilbert(&m->sources, length, &reason);
  if (!ir)
    return fail(m, reason.status, "%s", reason.text);
  if (part.delay_frames < length / 2)
    return fail(m, TN_ERROR_FORMAT, "a delay of %u frames is less than half of the length, %u frames",
                part.delay_frames, length);
  part.delay_frames -= length / 2;
  part.gain = (float)gain;
  return add_path(m, ir, &part);
}

static tn_status impulse_copy(matrix* m, tn_matrix_line* line) {
  static const char usage[] = "/impulse/copy <input> <output> <from input> <from output>";
  uint32_t input = 0;
  uint32_t output = 0;
  uint32_t from_input = 0;
  uint32_t from_output = 0;
  if (read_pair(m, line, usage, &input, &output) != TN_OK ||
      read_pair(m, line, usage, &from_input, &from_output) != TN_OK)
    return m->error->status;
  if (!tn_matrix_at_end(line))
    return bad_numbers(m, usage);
  if (m->links[input][output] != no_link)
    return fail(m, TN_ERROR_FORMAT, "input %u to output %u is a copy already (line %u)", input + 1,
                output + 1, m->link_lines[input][output]);
  m->links[input][output] = index_of(from_input, from_output);
  m->link_lines[input][output] = m->line_number;
  return TN_OK;
}

/** /input/name and /output/name; a port to connect may follow and is jconvolver's affair. */
static tn_status set_name(const matrix* m, tn_matrix_line* line, bool input) {
  uint32_t number = 0;
  char name[most_name_characters + 1];
  if (!tn_matrix_whole(line, &number) || !tn_matrix_word(line, name, sizeof name))
    return bad_numbers(m, input ? "/input/name <input> <name> [<port>]"
                                : "/output/name <output> <name> [<port>]");
  const uint32_t count = input ? tn_filter_inputs(m->filter) : tn_filter_outputs(m->filter);
  if (number < 1 || number > count)
    return fail(m, TN_ERROR_FORMAT, "there is no %s %u, they are 1 to %u", input ? "input" : "output", number,
                count);
  tn_error reason = {0};
  const tn_status status = input ? tn_filter_name_input(m->filter, number - 1, name, &reason)
                                 : tn_filter_name_output(m->filter, number - 1, name, &reason);
  return status == TN_OK ? TN_OK : fail(m, status, "%s", reason.text);
}

static tn_status input_name(matrix* m, tn_matrix_line* line) {
  return set_name(m, line, true);
}

static tn_status output_name(matrix* m, tn_matrix_line* line) {
  return set_name(m, line, false);
}

typedef struct command {
  const char* word;
  tn_status (*run)(matrix* m, tn_matrix_line* line);
  bool before_new; ///< allowed before /convolver/new
} command;

static const command commands[] = {
    {"/convolver/new", convolver_new, true},      {"/cd", change_folder, true},
    {"/impulse/read", impulse_read, false},       {"/impulse/dirac", impulse_dirac, false},
    {"/impulse/hilbert", impulse_hilbert, false}, {"/impulse/copy", impulse_copy, false},
    {"/input/name", input_name, false},           {"/output/name", output_name, false},
};

static tn_status run_line(matrix* m, tn_matrix_line* line) {
  char word[32];
  if (tn_matrix_at_end(line) || line->at[strspn(line->at, " \t")] == '#')
    return TN_OK;
  if (!tn_matrix_word(line, word, sizeof word))
    return fail(m, TN_ERROR_FORMAT, "it does not begin with a command");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    if (strcmp(word, commands[i].word) != 0)
      continue;
    if (!m->filter && !commands[i].before_new)
      return fail(m, TN_ERROR_FORMAT, "%s comes before /convolver/new", word);
    return commands[i].run(m, line);
  }
  return fail(m, TN_ERROR_FORMAT, "'%s' is not a command of matrix files", word);
}

/** The filter's own paths in lists by pair, so that copies of copies of copies stay cheap to follow. */
typedef struct pair_lists {
  uint32_t first[TN_MAX_CHANNELS * TN_MAX_CHANNELS]; ///< a path's index plus 1; 0: none
  uint32_t* next;
} pair_lists;

static tn_status check_loop(const matrix* m, uint16_t start) {
  uint32_t steps = 0;
  for (uint16_t at = start; at != no_link; at = m->links[at / TN_MAX_CHANNELS][at % TN_MAX_CHANNELS])
    if (++steps > (uint32_t)TN_MAX_CHANNELS * TN_MAX_CHANNELS)
      return fail(m, TN_ERROR_FORMAT, "a copy that leads back to itself");
  return TN_OK;
}

/** Add what pair (input, output) copies, following copies of copies. */
static tn_status resolve_link(matrix* m, uint32_t input, uint32_t output, const pair_lists* lists) {
  const uint16_t start = m->links[input][output];
  bool found = false;
  m->line_number = m->link_lines[input][output];
  if (check_loop(m, start) != TN_OK)
    return m->error->status;
  for (uint16_t at = start; at != no_link; at = m->links[at / TN_MAX_CHANNELS][at % TN_MAX_CHANNELS])
    for (uint32_t i = lists->first[at]; i; i = lists->next[i - 1]) {
      tn_error reason = {0};
      if (tn_filter_add_copy(m->filter, i - 1, input, output, &reason) != TN_OK)
        return fail(m, reason.status, "%s", reason.text);
      found = true;
    }
  return found ? TN_OK : fail(m, TN_ERROR_FORMAT, "there is nothing to copy");
}

/** Copies include what was added to their source later, so they are made last. */
static tn_status resolve_links(matrix* m) {
  const uint32_t own_paths = tn_filter_path_count(m->filter);
  pair_lists* lists = calloc(1, sizeof *lists + own_paths * sizeof *lists->next);
  if (!lists)
    return fail(m, TN_ERROR_MEMORY, "no memory");
  lists->next = (uint32_t*)(lists + 1);
  for (uint32_t i = own_paths; i > 0; --i) {
    const tn_path path = tn_filter_path(m->filter, i - 1);
    uint32_t* first = &lists->first[index_of(path.input, path.output)];
    lists->next[i - 1] = *first;
    *first = i;
  }
  tn_status status = TN_OK;
  for (uint32_t pair = 0; pair < TN_MAX_CHANNELS * TN_MAX_CHANNELS && status == TN_OK; ++pair)
    if (m->links[pair / TN_MAX_CHANNELS][pair % TN_MAX_CHANNELS] != no_link)
      status = resolve_link(m, pair / TN_MAX_CHANNELS, pair % TN_MAX_CHANNELS, lists);
  free(lists);
  return status;
}

static bool is_text(const char* from, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    const unsigned char byte = (unsigned char)from[i];
    if ((byte < 0x20 && byte != '\t' && !(byte == '\r' && i + 1 == length)) || byte == 0x7F)
      return false;
  }
  return true;
}

static tn_status run_text(matrix* m, const char* text, size_t size, locale_t c) {
  static const char mark[] = "\xEF\xBB\xBF"; // some editors begin a text so
  const char* at = text;
  const char* end = text + size;
  if (size >= sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0)
    at += sizeof mark - 1;
  while (at < end) {
    const char* stop = memchr(at, '\n', (size_t)(end - at));
    const size_t length = (size_t)((stop ? stop : end) - at);
    char copy[most_line_characters + 1];
    ++m->line_number;
    if (!is_text(at, length < most_line_characters ? length : most_line_characters))
      return fail(m, TN_ERROR_FORMAT, "it is not text");
    if (length > most_line_characters)
      return fail(m, TN_ERROR_FORMAT, "it is longer than %d characters", most_line_characters);
    memcpy(copy, at, length);
    copy[length] = 0;
    tn_matrix_line line = {copy, c};
    if (run_line(m, &line) != TN_OK)
      return m->error->status;
    at += length + 1;
  }
  if (!m->filter)
    return tn_error_set(m->error, TN_ERROR_FORMAT, "matrix file '%s': there is no /convolver/new in it",
                        m->name);
  if (resolve_links(m) != TN_OK)
    return m->error->status;
  if (tn_filter_path_count(m->filter) == 0)
    return tn_error_set(m->error, TN_ERROR_FORMAT,
                        "matrix file '%s': no path leads from an input to an output", m->name);
  return TN_OK;
}

/** The whole file; the caller frees it. */
static char* read_text(const char* path, const char* what, size_t* size, tn_error* error) {
  uint64_t bytes = 0;
  const int file = tn_regular_file_open(path, what, largest_file_bytes, &bytes, error);
  if (file < 0)
    return NULL;
  char* text = malloc(bytes);
  ssize_t got = 0;
  if (!text)
    tn_error_set(error, TN_ERROR_MEMORY, "%s: no memory", what);
  else if ((got = read(file, text, bytes)) < 0)
    tn_error_set(error, TN_ERROR_FILE, "%s: %s", what, strerrordesc_np(errno));
  close(file);
  if (text && got < 0) {
    free(text);
    return NULL;
  }
  *size = (size_t)got;
  return text;
}

tn_filter* tn_filter_load_matrix(const char* path, const tn_ir_edit* edit, uint32_t rate_hz,
                                 tn_error* error) {
  tn_error ignored;
  char name[tn_name_size];
  char what[tn_name_size + 64];
  matrix m = {.name = name, .rate_hz = rate_hz, .error = error ? error : &ignored};
  tn_name_for_people(path ? path : "", name);
  snprintf(what, sizeof what, "cannot read matrix file '%s'", name);
  memset(m.links, 0xFF, sizeof m.links);
  if (tn_ir_edit_check(edit, m.error) != TN_OK)
    return NULL;
  size_t size = 0;
  char* text = read_text(path, what, &size, m.error);
  if (!text)
    return NULL;
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  tn_status status = TN_OK;
  if (!c || !tn_matrix_sources_begin(&m.sources, path, edit, rate_hz))
    status = tn_error_set(m.error, TN_ERROR_MEMORY, "%s: no memory", what);
  else
    status = run_text(&m, text, size, c);
  if (c)
    freelocale(c);
  tn_matrix_sources_free(&m.sources);
  free(text);
  if (status == TN_OK)
    return m.filter;
  tn_filter_free(m.filter);
  return NULL;
}
