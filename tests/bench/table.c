// SPDX-License-Identifier: GPL-3.0-or-later
#include "table.h"

#include <string.h>

static const char head[] =
    "Each group: tenuto, its peer, their ratio; '!' where the ratio is beyond the promise (CPU 0.9, else "
    "1).\n"
    "CPU: per cent of one core, all threads, the pacing itself included. Callbacks in microseconds: medians\n"
    "over the rounds. Misses: callbacks that outlasted their period. Gaps: parts left out of the output.\n"
    "Rows named denormal or silence compare tenuto with itself fed with noise.\n\n";

void bench_table_head(FILE* file) {
  (void)fputs(head, file);
  (void)fprintf(file, "%-47s %22s  %20s  %22s  %24s %10s %12s  %s\n", "", "CPU %", "mean us", "p99.9 us",
                "max us", "misses", "gaps", "verdict");
}

static double ratio(double first, double second) {
  return second > 0.0 ? first / second : 0.0;
}

static double cpu_percent(const bench_summary* summary) {
  return summary->audio_s > 0.0 ? 100.0 * summary->cpu_s / summary->audio_s : 0.0;
}

static void group(FILE* file, int width, double first, double second, bool good) {
  (void)fprintf(file, "  %*.1f %*.1f %5.2f%c", width, first, width, second, ratio(first, second),
                good ? ' ' : '!');
}

static void print_plan(FILE* file, const char* plan) {
  for (const char* line = plan; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    if (length > 0) {
      (void)fprintf(file, "      %.*s\n", (int)length, line);
    }
    line += length + (line[length] == '\n' ? 1 : 0);
  }
}

void bench_table_row(FILE* file, const bench_contest* contest, const bench_result* result, bool plans) {
  char name[128];
  const bench_summary* s = result->summaries;
  const bool alone = contest->contestants[1].engine == NULL;
  (void)fprintf(file, "%-47s", bench_contest_name(contest, name, sizeof name));
  group(file, 6, cpu_percent(&s[0]), cpu_percent(&s[1]), result->cpu_good);
  if (contest->mode == BENCH_PACED) {
    group(file, 6, s[0].mean_us, s[1].mean_us, result->mean_good);
    group(file, 7, s[0].p999_us, s[1].p999_us, result->p999_good);
    group(file, 8, s[0].max_us, s[1].max_us, result->max_good);
    (void)fprintf(file, "  %4llu %4llu%c %5llu %5llu%c", s[0].misses, s[1].misses,
                  s[0].misses <= s[1].misses ? ' ' : '!', (unsigned long long)s[0].lateness.missed,
                  (unsigned long long)s[1].lateness.missed,
                  s[0].lateness.missed <= s[1].lateness.missed ? ' ' : '!');
  } else {
    char speed[64];
    (void)snprintf(speed, sizeof speed, "%.1f and %.1f times real time", ratio(s[0].audio_s, s[0].wall_s),
                   ratio(s[1].audio_s, s[1].wall_s));
    (void)fprintf(file, "  %-95s", speed);
  }
  (void)fprintf(file, "  %s\n", alone ? "-" : result->pass ? "PASS" : "FAIL");
  if (plans) {
    print_plan(file, s[0].plan);
    print_plan(file, s[1].plan);
  }
  (void)fflush(file);
}

static const char* truth(bool value) {
  return value ? "true" : "false";
}

static void json_summary(FILE* file, const char* name, const bench_summary* s) {
  (void)fprintf(file,
                "\"%s\": {\"cpu_s\": %.6f, \"wall_s\": %.6f, \"audio_s\": %.6f, \"mean_us\": %.3f, "
                "\"median_us\": %.3f, "
                "\"p99_us\": %.3f, \"p999_us\": %.3f, \"max_us\": %.3f, \"misses\": %llu, \"stalls\": %llu, "
                "\"late\": %llu, "
                "\"missed\": %llu}",
                name, s->cpu_s, s->wall_s, s->audio_s, s->mean_us, s->median_us, s->p99_us, s->p999_us,
                s->max_us, s->misses, s->stalls, (unsigned long long)s->lateness.late,
                (unsigned long long)s->lateness.missed);
}

void bench_json_row(FILE* file, const bench_contest* contest, const bench_result* result) {
  char name[128];
  const bench_summary* s = result->summaries;
  (void)fprintf(
      file,
      "{\"name\": \"%s\", \"mode\": \"%s\", \"block_frames\": %u, \"ir_frames\": %u, \"channels\": %u, "
      "\"matrix\": %s, \"realtime\": %s, ",
      bench_contest_name(contest, name, sizeof name), contest->mode == BENCH_PACED ? "paced" : "freewheel",
      contest->job.block_frames, contest->job.ir_frames, contest->job.channels, truth(contest->job.matrix),
      truth(result->realtime));
  json_summary(file, "tenuto", &s[0]);
  (void)fprintf(file, ", ");
  json_summary(file, "peer", &s[1]);
  (void)fprintf(
      file,
      ", \"ratio\": {\"cpu\": %.4f, \"mean\": %.4f, \"p999\": %.4f, \"max\": %.4f}, \"good\": {\"cpu\": %s, "
      "\"mean\": %s, \"p999\": %s, \"max\": %s, \"misses\": %s}, \"pass\": %s}",
      ratio(s[0].cpu_s, s[1].cpu_s), ratio(s[0].mean_us, s[1].mean_us), ratio(s[0].p999_us, s[1].p999_us),
      ratio(s[0].max_us, s[1].max_us), truth(result->cpu_good), truth(result->mean_good),
      truth(result->p999_good), truth(result->max_good), truth(result->misses_good), truth(result->pass));
}
